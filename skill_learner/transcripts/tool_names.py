"""Tools of all editors under one name each: Claude Code's, and its names for their arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skill_learner.transcripts.patches import patch_call

_NAMES = {
    "Shell": "Bash",
    "run_terminal_cmd": "Bash",
    "run_terminal_command": "Bash",
    "StrReplace": "Edit",
    "MultiStrReplace": "MultiEdit",
    "search_replace": "Edit",
    "edit_file": "Edit",
    "write": "Write",
    "EditNotebook": "NotebookEdit",
    "edit_notebook": "NotebookEdit",
    "ReadFile": "Read",
    "read_file": "Read",
}
_FILE_TOOLS = frozenset({"Read", "Write", "Edit", "MultiEdit", "NotebookEdit"})
_FILE_KEYS = ("path", "target_file", "target_notebook", "filePath", "relative_workspace_path")


def canonical_call(
    name: str, tool_input: Mapping[str, Any], folder: str = ""
) -> tuple[str, Mapping[str, Any]]:
    """Name and arguments as the rest of the house knows them; unknown ones stay as they are.

    folder: where the session runs, for editors whose patches name files relative to it.
    """
    if name == "apply_patch":
        patch = next((v for v in tool_input.values() if isinstance(v, str)), "")
        return patch_call(patch, folder)
    name = _NAMES.get(name, name)
    if name in _FILE_TOOLS and "file_path" not in tool_input:
        for key in _FILE_KEYS:
            if isinstance(tool_input.get(key), str):
                return name, {**tool_input, "file_path": tool_input[key]}
    return name, tool_input
