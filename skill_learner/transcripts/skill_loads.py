"""Which skill a tool call loaded: the Skill tool, or a SKILL.md that was read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from skill_learner.transcripts.suspicion import SHELL_TOOLS, only_reads
from skill_learner.transcripts.tool_names import canonical_call

_SKILL_FILE = re.compile(r"([^\\/\s'\"]+)[\\/]+SKILL\.md\b")


def loaded_skill_names(name: str, tool_input: Mapping[str, Any], extra: Any) -> tuple[str, ...]:
    """Folder names of the skills that a call which did not fail loaded.

    extra: the editor's structured result, where there is one.
    """
    if name == "Skill":
        return _skill_tool(tool_input, extra)
    name, tool_input = canonical_call(name, tool_input)
    if name == "Read":
        path = tool_input.get("file_path")
        return tuple(_SKILL_FILE.findall(path)[-1:]) if isinstance(path, str) else ()
    command = tool_input.get("command")
    if name in SHELL_TOOLS and isinstance(command, str) and "SKILL.md" in command:
        literal = [n for n in _SKILL_FILE.findall(command) if not re.search(r"[*?$\[{]", n)]
        return tuple(dict.fromkeys(literal)) if only_reads(command) else ()
    return ()


def _skill_tool(tool_input: Mapping[str, Any], extra: Any) -> tuple[str, ...]:
    if isinstance(extra, Mapping):
        if extra.get("success") is False:
            return ()
        if isinstance(extra.get("commandName"), str):
            return (extra["commandName"].lstrip("/"),)
    asked = tool_input.get("skill") or tool_input.get("command")
    return (asked.lstrip("/").split(" ", 1)[0],) if isinstance(asked, str) and asked else ()
