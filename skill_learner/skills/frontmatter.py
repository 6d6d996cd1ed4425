"""SKILL.md as bytes: a lenient reader for what people and tools wrote, a strict writer for ours.

The reader keeps every scalar as the text that stands in the file (`1.10` stays `1.10`, `yes` stays
`yes`), repairs what it can and says so in `warnings`. It raises SkillFormatError only for files
that cannot be used: empty, too large, never closed, in conflict, or without one readable key.
The writer gives one canonical form, which the Agent Skills validator accepts and the reader
returns unchanged.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from skill_learner.characters import SURROGATE, has_hidden
from skill_learner.errors import SkillFormatError
from skill_learner.skills.canonical_front import ESCAPED, YAML_WORDS, read_canonical
from skill_learner.skills.front_matter_text import (
    KeyBlock,
    first_paragraph,
    key_blocks,
    plain_text,
    split_text,
)
from skill_learner.skills.front_matter_yaml import TWICE, load_yaml, twice, unrepeated
from skill_learner.skills.validation import NULL_TEXTS, description_faults, name_faults

READ_CAP = 2 * 1024 * 1024
"""Bytes above which a SKILL.md is not read; the largest real one seen has one megabyte."""

_PLAIN_NAME = re.compile(r"[a-z][a-z0-9-]*")
_REFERENCE = re.compile(r"[ \t]*(?:&\S|\*[\w.-]+\s*$)")
_NOT_UTF_8 = "bytes that are not UTF-8"
_SKIPPED = "not YAML, skipped"
_NO_MAP = "is not a map of keys"
_ANCHOR = "is a YAML anchor or alias, which is not read"
_LOSSES = (_NOT_UTF_8, TWICE, _SKIPPED, _NO_MAP, _ANCHOR)
_WRITTEN_KEYS = frozenset({"name", "description", "license", "metadata"})
_JSON = json.JSONEncoder(ensure_ascii=False)
_METADATA_KEY = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")


_NOTHING: Mapping[str, Any] = {}


class ParsedSkill(NamedTuple):
    """A SKILL.md as read.

    body: everything after the front matter, verbatim. fields: the whole front matter, scalars as
    text. metadata: its `metadata` map, nested values as JSON text. further: the lines, verbatim, of
    each key that the writer has no form of its own for; a key whose lines cannot be told apart is
    missing. description is empty only where the file says so outright (a null or empty one): such
    a skill is unfinished.
    """

    name: str
    description: str
    body: str
    license: str = ""
    metadata: Mapping[str, str] = _NOTHING
    fields: Mapping[str, Any] = _NOTHING
    warnings: tuple[str, ...] = ()
    further: Mapping[str, str] = _NOTHING

    @property
    def uncarried(self) -> list[str]:
        """Keys that would be lost if the file were written anew."""
        return sorted(set(self.fields) - _WRITTEN_KEYS - set(self.further))

    @property
    def lost(self) -> list[str]:
        """Warnings of what stands in the file and would be gone, or be something else, if it were
        written anew."""
        return [note for note in self.warnings if any(words in note for words in _LOSSES)]


def parse(data: bytes, path: str = "SKILL.md") -> ParsedSkill:
    """Read the bytes of a SKILL.md; `path` is for messages only."""
    text, warnings = _decode(data, path)
    split = split_text(text, path)
    warnings += split.warnings
    fields: dict[str, Any] = {}
    if split.front is not None:
        fields, field_warnings = _read_fields(split.front, split.first_line, path)
        warnings += field_warnings
    return _assemble(fields, split.body, warnings, _further(fields, split.front or ""))


def render(
    name: str,
    description: str,
    body: str,
    *,
    metadata: Mapping[str, str] | None = None,
    license: str = "",
    further: Mapping[str, str] | None = None,
) -> bytes:
    """The canonical bytes of a skill: valid by the specification, body verbatim. further: lines of
    other keys, as `parse` gave them. Raises SkillFormatError with every fault of name, description
    and metadata keys."""
    metadata = metadata or {}
    description = description.strip()
    check_writable(name, description, metadata)
    lines = ["---", f"name: {_scalar(name)}", f"description: {_quoted(description)}"]
    if license:
        lines.append(f"license: {_quoted(license)}")
    if metadata:
        lines.append("metadata:")
        lines += [f"  {key}: {_quoted(value)}" for key, value in metadata.items()]
    lines += [block.rstrip("\r\n") for block in (further or {}).values()]
    text = "\n".join([*lines, "---", ""])
    text += body if body.isascii() else SURROGATE.sub("\ufffd", body)
    return text.encode("utf-8")


def check_writable(name: str, description: str, metadata: Collection[str]) -> None:
    """SkillFormatError with every reason why `render` has no form for these."""
    faults = name_faults(name) + description_faults(description)
    if not all(map(_METADATA_KEY.fullmatch, metadata)):
        faults += [
            f"metadata key {key!r} is not lower-case words joined by hyphens"
            for key in metadata
            if _METADATA_KEY.fullmatch(key) is None
        ]
    if faults:
        raise SkillFormatError(f"skill {name!r} cannot be written: " + "; ".join(faults))


def _scalar(text: str) -> str:
    plain = _PLAIN_NAME.fullmatch(text) is not None and text not in YAML_WORDS
    return text if plain else _quoted(text)


def _quoted(text: str) -> str:
    """A double-quoted scalar that JSON and YAML read alike. Three dashes in a row are broken by an
    escape, since some readers cut the front matter at the first `---` wherever it stands."""
    if text.isascii() and text.isprintable() and _is_bare(text):
        return f'"{text}"'
    quoted = _JSON.encode(SURROGATE.sub("\ufffd", text))
    quoted = ESCAPED.sub(lambda match: f"\\u{ord(match.group()):04x}", quoted)
    return quoted.replace("---", "--\\u002d")


def _is_bare(text: str) -> bool:
    """Whether nothing in a printable ASCII text needs an escape."""
    return '"' not in text and "\\" not in text and "---" not in text


# -- reading -----------------------------------------------------------------------------------


def _decode(data: bytes, path: str) -> tuple[str, tuple[str, ...]]:
    if len(data) > READ_CAP:
        raise SkillFormatError(f"{path}: {len(data)} bytes, more than the {READ_CAP} that are read")
    if not data.strip():
        raise SkillFormatError(
            f"{path}:1: the file is empty", "Write a skill into it or remove it."
        )
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", errors="replace"), ("the file is UTF-16 instead of UTF-8",)
    try:
        return data.decode("utf-8"), ()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return data.decode("utf-8", errors="replace"), (f"line {line}: {_NOT_UTF_8}",)


def _read_fields(front: str, first_line: int, path: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    canonical = read_canonical(front)
    if canonical is not None:
        return canonical, ()
    try:
        loaded, warnings = load_yaml(front, first_line)
    except ValueError:
        return _read_by_key(front, first_line, path)
    if loaded is None:
        return {}, (*warnings, "the front matter is empty")
    if not isinstance(loaded, dict):
        return {}, (*warnings, f"the front matter {_NO_MAP}")
    return {_text(key): value for key, value in loaded.items()}, warnings


def _further(fields: Mapping[str, Any], front: str) -> dict[str, str]:
    if fields.keys() <= _WRITTEN_KEYS:
        return {}
    blocks = key_blocks(front, 1)[0]
    return {b.key: b.source for b in blocks if b.key in fields and b.key not in _WRITTEN_KEYS}


def _read_by_key(front: str, first_line: int, path: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Each top-level key on its own; a value that is not YAML is taken as text."""
    blocks, stray = key_blocks(front, first_line)
    if not blocks:
        raise SkillFormatError(
            f"{path}:{first_line}: the front matter is not YAML and holds no `key: value` line",
            "Write at least `name:` and `description:` between the `---` lines.",
        )
    warnings = [f"line {number}: {_SKIPPED}" for number in stray]
    fields: dict[str, Any] = {}
    for block in blocks:
        if block.key in fields:
            warnings.append(twice(block.key, block.line))
        fields[block.key], fault, repeated = _read_block(block)
        warnings += repeated
        if fault and _REFERENCE.match(block.value):
            warnings.append(f"line {block.line}: {block.key} {_ANCHOR}")
        elif fault:
            warnings.append(f"line {block.line}: {block.key} is not valid YAML; read as plain text")
    return fields, tuple(warnings)


def _read_block(block: KeyBlock) -> tuple[Any, bool, tuple[str, ...]]:
    """A value's YAML, else its JSON (libyaml refuses some of JSON's escapes), else its text;
    whether it is that; and notes of keys that stand twice."""
    try:
        loaded, repeated = load_yaml(block.source, block.line)
    except ValueError:
        try:
            return json.loads(block.value, object_pairs_hook=unrepeated), False, ()
        except (ValueError, RecursionError):
            return plain_text(block.value), True, ()
    if isinstance(loaded, dict) and len(loaded) == 1:
        return next(iter(loaded.values())), False, repeated
    return plain_text(block.value), True, ()


def _assemble(
    fields: dict[str, Any], body: str, warnings: tuple[str, ...], further: Mapping[str, str]
) -> ParsedSkill:
    notes = list(warnings)
    name = fields.get("name")
    if not isinstance(name, str) or name.strip() in NULL_TEXTS:
        notes.append("no name; the folder's name is used")
        name = ""
    description = fields.get("description")
    if description is None:
        notes.append("no description; the first paragraph is used")
        description = first_paragraph(body)
    elif _text(description).strip() in NULL_TEXTS:
        notes.append("the description is empty")
        description = ""
    if not body.strip():
        notes.append("no text below the front matter")
    metadata = fields.get("metadata", {})
    if not isinstance(metadata, dict):
        if _text(metadata).strip() not in NULL_TEXTS:
            notes.append(f"metadata {_NO_MAP}")
        metadata = {}
    if has_hidden(name + _text(description) + body):
        notes.append("hidden characters (zero width or direction marks)")
    return ParsedSkill(
        name=name.strip(),
        description=_text(description).strip(),
        body=body,
        license=_text(fields.get("license", "")),
        metadata={_text(key): _text(value) for key, value in metadata.items()},
        fields=fields,
        warnings=tuple(notes),
        further=further,
    )


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return str(value)
