"""What came of the calls in a Codex rollout: from the client's own items, else from the words that
the model was given."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Mapping
from typing import Any

from skill_learner.transcripts.steps import ToolResult

_OUTPUTS = frozenset({"function_call_output", "custom_tool_call_output", "local_shell_call_output"})
_CALLS = frozenset({"function_call", "custom_tool_call", "local_shell_call"})
_ITEMS = frozenset({"CommandExecution", "FileChange", "McpToolCall"})
_SHELL_OPTION = re.compile(r"-[a-z]*c")

_EXITED = re.compile(r"Process exited with code (-?\d+)|\AExit code: (-?\d+)")
_STILL_RUNS = re.compile(r"Process running with session ID \d+")
_ABORTED = re.compile(r"(?:\AWall time: \S+ seconds\n)?aborted by user\b|\AAborted\b")
_BLOCKED = re.compile(r"(?:Command|Tool call) blocked by \w+ hook\b")
_REFUSED = re.compile(r"(?:exec command |patch )?rejected by user\b|.{0,40}\brejected by user\b")
_FAILED = re.compile(
    r"(?:\w+ (?:verification )?failed(?::| for )|unsupported call\b|Script failed\b|error: )"
)
_BODY = re.compile(r"\A(?:[A-Z][^\n]*\n)*?Output:\n", re.MULTILINE)

_INTERRUPTED = {"interrupted": True}
_REFUSAL = "User rejected the call"


class CallOutcomes:
    """The results of all calls, by call id."""

    def __init__(self, records: Iterable[Mapping[str, Any]]) -> None:
        self._outputs: dict[str, str] = {}
        self._items: dict[str, Mapping[str, Any]] = {}
        self._named: set[str] = set()
        for record in records:
            payload = record["payload"]
            item = payload.get("item")
            if payload.get("type") in _CALLS:
                self._named.add(str(payload.get("call_id")))
            elif payload.get("type") in _OUTPUTS:
                self._outputs.setdefault(
                    str(payload.get("call_id")), output_text(payload.get("output"))
                )
            elif isinstance(item, Mapping) and item.get("type") in _ITEMS:
                self._items[str(item.get("id"))] = item

    def is_named(self, call_id: str) -> bool:
        """Whether the model made the call itself, rather than a script of its."""
        return call_id in self._named

    def get(self, call_id: str) -> ToolResult | None:
        output = self._outputs.get(call_id)
        if output is not None and _ABORTED.search(output[:200]):
            return ToolResult(output, None, _INTERRUPTED)
        item = self._items.get(call_id)
        if item is not None:
            return _item_result(item, output)
        return None if output is None else _output_result(output)


def _item_result(item: Mapping[str, Any], output: str | None) -> ToolResult:
    if item.get("status") == "declined":
        return ToolResult(_REFUSAL, True)
    if item.get("type") == "CommandExecution":
        text = item.get("aggregated_output")
        text = text if isinstance(text, str) else output or ""
        if is_killed(item):
            return ToolResult(text, None, _INTERRUPTED)
        return _exit_result(item.get("exit_code"), text)
    failed = item.get("status") == "failed"
    if item.get("type") == "FileChange":
        told = [item.get("stdout"), item.get("stderr")]
        text = "\n".join(part for part in told if isinstance(part, str) and part) or output or ""
        return ToolResult(text, failed)
    result = item.get("result")
    if isinstance(result, Mapping) and result.get("isError") is True:
        failed = True
    return ToolResult(output if output is not None else output_text(result), failed)


def _output_result(output: str) -> ToolResult:
    """By what the model was told."""
    exited = _EXITED.search(output[:400])
    body = _BODY.sub("", output, count=1)
    if exited:
        return _exit_result(int(exited[1] or exited[2]), body)
    if _STILL_RUNS.search(output[:400]):
        return ToolResult(body, None, {"isAsync": True})
    if _REFUSED.match(output):
        return ToolResult(_REFUSAL, True)
    if _BLOCKED.match(output):
        return ToolResult(output, None, _INTERRUPTED)
    return ToolResult(output, True if _FAILED.match(output) else None)


def _exit_result(code: Any, text: str) -> ToolResult:
    if not isinstance(code, int) or isinstance(code, bool):
        return ToolResult(text, None)
    return ToolResult(f"Exit code {code}\n{text}", True) if code else ToolResult(text, False)


def is_killed(item: Mapping[str, Any]) -> bool:
    """Whether a command was ended from outside, at the latest when the client ended."""
    code = item.get("exit_code")
    return isinstance(code, int) and code < 0


def command_text(command: Any) -> str:
    """A command as one would type it, without the shell it was given to."""
    if isinstance(command, str):
        return command
    if not isinstance(command, list) or not all(isinstance(word, str) for word in command):
        return ""
    if len(command) == 3 and _SHELL_OPTION.fullmatch(command[1]):
        return str(command[2])
    return shlex.join(command)


def output_text(output: Any) -> str:
    """The text of an output: a string, JSON with metadata (older clients), or blocks."""
    if isinstance(output, str):
        return _older_output(output) if output.startswith('{"output"') else output
    if isinstance(output, Mapping):
        output = output.get("content", output.get("output", ""))
        if isinstance(output, str):
            return output
    blocks = output if isinstance(output, list) else []
    texts = [block.get("text") for block in blocks if isinstance(block, Mapping)]
    return "\n".join(text for text in texts if isinstance(text, str))


def _older_output(output: str) -> str:
    try:
        told = json.loads(output, strict=False)
    except (ValueError, RecursionError):
        return output
    text, facts = told.get("output"), told.get("metadata")
    code = facts.get("exit_code") if isinstance(facts, Mapping) else None
    if not isinstance(text, str):
        return output
    return f"Exit code: {code}\nOutput:\n{text}" if isinstance(code, int) else text
