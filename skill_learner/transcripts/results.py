"""The outcome of a tool call: text, status, the human's words in a refusal, changed files."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from skill_learner.models import ToolStatus
from skill_learner.transcripts.prompts import without_reminders
from skill_learner.transcripts.suspicion import SHELL_TOOLS, looks_failed

EDIT_TOOLS = frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit"})
_PATH_KEYS = ("filePath", "file_path", "notebook_path", "notebookPath")

_REJECTED = re.compile(
    r"(?:Error: )?(?:The user doesn't want to (?:proceed|take this action)"
    r"|The agent proposed a plan that was rejected by the user"
    r"|User (?:has )?rejected)"
)
_REJECTION_WORDS = re.compile(r"the user said:\s*(.*)", re.DOTALL | re.IGNORECASE)
_EDITOR_WORDS_IN_REJECTION = re.compile(
    r"\s*(?:Note: The user's next message may contain|The user wants to clarify these questions).*",
    re.DOTALL,
)
_NOT_RUN = re.compile(
    r"(?:Error: )?(?:<tool_use_error>)?\s*(?:Error: )?(?:"
    r"Cancelled: parallel tool call|Sibling tool call errored|\[?Request interrupted"
    r"|Interrupted by user|The operation was aborted|Request was aborted"
    r"|PreToolUse:\S* hook (?:error|blocking)|Permission to use \S+ (?:with|has been denied)"
    r"|Claude requested permissions? to )"
)
_NEEDS_APPROVAL = re.compile(r"[^\n]{0,400}? (?:needs|requires) approval\b")
_EXIT_CODE = re.compile(r"(?:Error: )?Exit code (\d+)")
_BACKGROUND = re.compile(r"Command (?:is )?running in (?:the )?background with ID")


def content_text(content: Any) -> str:
    """The text of a message's or result's content: blocks joined, pictures as "[image]"."""
    if isinstance(content, str):
        return without_reminders(content)
    if isinstance(content, Mapping):
        content = [content]
    if not isinstance(content, list):
        return ""
    parts = []
    for block in content:
        if isinstance(block, str):
            parts.append(block)
        elif isinstance(block, Mapping):
            parts.append(_block_text(block))
    return without_reminders("\n".join(part for part in parts if part))


def _block_text(block: Mapping[str, Any]) -> str:
    kind = block.get("type")
    if kind == "text":
        text = block.get("text")
        return text if isinstance(text, str) else ""
    if kind in ("image", "document"):
        return f"[{kind}]"
    if kind == "tool_reference":
        return f"[tool {block.get('tool_name', '')}]"
    return ""


def response_text(response: Any) -> str:
    """A hook's `tool_response` as the text that the model roughly saw."""
    if not isinstance(response, Mapping):
        return content_text(response)
    text = json.dumps(response, ensure_ascii=False, default=str)
    file = response.get("file")
    if isinstance(response.get("stdout"), str):
        streams = (response["stdout"], response.get("stderr"))
        text = "\n".join(s for s in streams if isinstance(s, str) and s)
    elif isinstance(file, Mapping):
        text = file["content"] if isinstance(file.get("content"), str) else "[image]"
    elif isinstance(response.get("content"), list):
        text = content_text(response["content"])
    elif isinstance(response.get("filePath"), str):
        text = f"The file {response['filePath']} has been written."
    return without_reminders(text)


def result_status(
    name: str, tool_input: Mapping[str, Any], text: str, is_error: bool | None, extra: Any
) -> ToolStatus:
    """What became of a call. extra: the editor's structured result, where there is one."""
    if _REJECTED.match(text):
        return "rejected"
    if isinstance(extra, Mapping) and extra.get("interrupted") is True:
        return "interrupted"
    if is_error or text.startswith("<tool_use_error>"):
        not_run = _NOT_RUN.match(text) or _NEEDS_APPROVAL.match(text)
        return "interrupted" if not_run else "failed"
    return _shell_status(tool_input, text, is_error) if name in SHELL_TOOLS else "ok"


def _shell_status(tool_input: Mapping[str, Any], text: str, is_error: bool | None) -> ToolStatus:
    exit_code = _EXIT_CODE.match(text)
    if is_error is None and exit_code is not None and exit_code[1].strip("0"):
        return "failed"
    command = tool_input.get("command")
    known = is_error is False
    failed = looks_failed(command if isinstance(command, str) else "", text, exit_code_known=known)
    return "suspect" if failed else "ok"


def rejection_words(text: str) -> str:
    """The human's words inside a refusal, "" when they gave none."""
    match = _REJECTION_WORDS.search(text)
    return _EDITOR_WORDS_IN_REJECTION.sub("", match[1]).strip() if match else ""


def runs_in_background(tool_input: Mapping[str, Any], text: str, extra: Any) -> bool:
    """Whether the result only says that the work was started."""
    if isinstance(extra, Mapping) and (extra.get("backgroundTaskId") or extra.get("isAsync")):
        return True
    return _BACKGROUND.match(text) is not None


def changed_files(
    name: str, tool_input: Mapping[str, Any], extra: Any, project: str
) -> tuple[str, ...]:
    """Files that a call which succeeded changed, relative to `project` where they lie inside."""
    found: list[str] = []
    if name in EDIT_TOOLS:
        sources = [extra if isinstance(extra, Mapping) else {}, tool_input]
        found = [s[key] for s in sources for key in _PATH_KEYS if isinstance(s.get(key), str)][:1]
        edits = (edit for edit in _items(tool_input.get("edits")) if isinstance(edit, Mapping))
        found += [path for edit in edits if isinstance(path := edit.get("file_path"), str)]
    elif isinstance(extra, Mapping) and isinstance(extra.get("bashEditDiff"), Mapping):
        diff = extra["bashEditDiff"]
        for item in (*_items(diff.get("files")), *_items(diff.get("changedFiles"))):
            path = item.get("filePath") if isinstance(item, Mapping) else item
            if isinstance(path, str) and path:
                found.append(path)
    return tuple(dict.fromkeys(relative_path(path, project) for path in found))


def relative_path(path: str, project: str) -> str:
    """`path` below `project` with forward slashes, else as it is."""
    plain, root = path.replace("\\", "/"), project.replace("\\", "/").rstrip("/")
    windows = len(root) > 1 and root[1] == ":"
    inside = plain[: len(root) + 1]
    same = inside.lower() == f"{root}/".lower() if windows else inside == f"{root}/"
    return plain[len(root) + 1 :] if root and same else path


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
