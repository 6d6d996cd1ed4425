"""Settings files as text: what mapping stands in one, and in which lines."""

from __future__ import annotations

from pathlib import Path

from skill_learner.errors import ConfigError

TYPE_CHECKING = False  # `typing` itself would cost every program that opens a library
if TYPE_CHECKING:
    from typing import Any


def read_settings_file(path: Path) -> dict[str, Any]:
    """The mapping in a YAML settings file; an empty file is an empty mapping."""
    return parse_settings(settings_bytes(path), path)


def settings_bytes(path: Path) -> bytes:
    """What stands in a settings file, whole."""
    from skill_learner.files import read_plain

    try:
        return read_plain(path)
    except OSError as problem:
        raise ConfigError(f"{path}: cannot be read: {problem}") from problem


def parse_settings(data: bytes, path: Path) -> dict[str, Any]:
    """The mapping in the bytes of a settings file; `path` is for messages."""
    import yaml

    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise ConfigError(f"{path}: cannot be read: {problem}") from problem
    try:
        loaded = yaml.safe_load(text)
    except yaml.MarkedYAMLError as problem:
        mark = problem.problem_mark or problem.context_mark
        place = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        raise ConfigError(
            f"{path}{place}: not valid YAML: {problem.problem or problem.context}",
            "correct that line; nothing of the file was used",
        ) from problem
    except RecursionError:
        raise ConfigError(
            f"{path}: not valid YAML: nested too deeply", "write plain `key: value` lines"
        ) from None
    except Exception as problem:  # for a value that is none of its kind, whatever its reader raises
        place = f":{_line_of_fault(text)}"
        raise ConfigError(
            f"{path}{place}: not valid YAML: {problem}",
            "correct that line, or put its value into quotes; nothing of the file was used",
        ) from problem
    if loaded is None:
        return {}
    if not isinstance(loaded, dict):
        raise ConfigError(
            f"{path}:1: expected `key: value` lines, found a {type(loaded).__name__}",
            "write for example `nudge_interval: 10`",
        )
    _refuse_keys_told_twice(text, path)
    # YAML 1.1 takes the bare word `off` for false
    return {"off" if key is False else str(key): value for key, value in loaded.items()}


def _refuse_keys_told_twice(text: str, path: Path) -> None:
    """YAML lets the last one win without a word."""
    import yaml

    root = yaml.compose(text, Loader=yaml.SafeLoader)
    mappings = [root] if isinstance(root, yaml.MappingNode) else []
    for mapping in mappings:  # grows by the mappings in it
        lines: dict[str, int] = {}
        for key, value in mapping.value:
            name, line = str(key.value), key.start_mark.line + 1
            if name in lines:
                raise ConfigError(
                    f"{path}:{line}: the key `{name}` stands in line {lines[name]} already",
                    "keep one of them; nothing of the file was used",
                )
            lines[name] = line
            if isinstance(value, yaml.MappingNode) and value not in mappings:
                mappings.append(value)


def _line_of_fault(text: str) -> int:
    """The line of the key whose value reads as a date, a number or the like and is none."""
    import yaml

    try:
        mapping = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError:
        return 1
    for key, value in mapping.value if isinstance(mapping, yaml.MappingNode) else ():
        try:
            yaml.SafeLoader("").construct_document(value)
        except Exception:
            return int(key.start_mark.line) + 1
    return 1


def lines_of_keys(data: bytes) -> dict[str, int]:
    """In which line each key of a settings file stands that was read without a fault."""
    import yaml

    mapping = yaml.compose(data.decode("utf-8-sig"), Loader=yaml.SafeLoader)
    keys = [key for key, _ in mapping.value] if isinstance(mapping, yaml.MappingNode) else []
    return {str(key.value): key.start_mark.line + 1 for key in keys}
