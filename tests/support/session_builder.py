"""Builds small sessions by hand, step by step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from skill_learner.models import Session, Step, ToolCall

PROJECT = "/work/shop"


class SessionBuilder:
    """`SessionBuilder().human("…").bash("make", "error: x", "failed").edit("a.py").session()`."""

    def __init__(self, session_id: str = "one", project: str = PROJECT) -> None:
        self._id = session_id
        self._project = project
        self._steps: list[Step] = []

    def _add(self, kind: Any, text: str, call: ToolCall | None = None) -> SessionBuilder:
        number = len(self._steps) + 1
        self._steps.append(Step(number, kind, text, call, f"hand:{number}"))
        return self

    def human(self, text: str) -> SessionBuilder:
        return self._add("human", text)

    def plan(self, text: str) -> SessionBuilder:
        return self._add("plan", text)

    def assistant(self, text: str) -> SessionBuilder:
        return self._add("assistant", text)

    def summary(self, text: str) -> SessionBuilder:
        return self._add("summary", text)

    def human_shell(self, command: str, output: str, status: Any = "ok") -> SessionBuilder:
        call = ToolCall("sh", "Bash", {"command": command}, output, status)
        return self._add("human_shell", command, call)

    def bash(
        self, command: str, output: str = "", status: Any = "ok", tool: str = "Bash"
    ) -> SessionBuilder:
        call = ToolCall(f"c{len(self._steps)}", tool, {"command": command}, output, status)
        return self._add("tool", "", call)

    def edit(self, path: str, old: str = "a = 1", new: str = "a = 2") -> SessionBuilder:
        data = {"file_path": f"{self._project}/{path}", "old_string": old, "new_string": new}
        call = ToolCall(
            f"c{len(self._steps)}", "Edit", data, "updated", "ok", changed_files=(path,)
        )
        return self._add("tool", "", call)

    def tool(
        self, name: str, data: Mapping[str, Any], result: str = "", status: Any = "ok"
    ) -> SessionBuilder:
        return self._add("tool", "", ToolCall(f"c{len(self._steps)}", name, data, result, status))

    def rejected(self, name: str, data: Mapping[str, Any], words: str) -> SessionBuilder:
        return self._add("tool", words, ToolCall("r", name, data, "rejected", "rejected"))

    def session(self, **changes: Any) -> Session:
        whole = Session(self._id, "claude-code", self._project, tuple(self._steps))
        return replace(whole, **changes)
