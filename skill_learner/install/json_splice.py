"""Insert hook entries into a settings text, and remove them, without touching a foreign byte.

The text is never re-serialised: an entry is spliced in at the place the scanner finds, in the
style (indentation, line ends, spacing) of its neighbours. Works for files of the shape
`{"hooks": {EVENT: [ENTRY, ...]}}`, where an entry is a hook itself or a group
`{"matcher": ..., "hooks": [HOOK, ...]}`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skill_learner.install.json_edit import append, checked, cut, replaced
from skill_learner.install.json_scanner import (
    JsonText,
    Span,
    elements,
    members,
    read_json_text,
    refuse,
    root_start,
)
from skill_learner.install.json_style import JsonStyle, own_line_indent

IsOurs = Callable[[Mapping[str, Any]], bool]
"""Says of one hook (an object with `command`) whether any version of ours wrote it."""


def insert_entries(
    data: bytes | None, entries: Mapping[str, Mapping[str, Any]], is_ours: IsOurs, path: Path
) -> bytes:
    """Return the text with exactly one entry of ours for each event in `entries`, none elsewhere.

    data: None, or only whitespace, for a file that holds nothing yet. An older entry of ours is
    replaced where it stands; a new one goes to the end of its event's list. Applying it to its own
    result changes nothing. Raises InstallError (file, line, column) for what is not strict JSON or
    has `hooks` of another shape.
    """
    if data is None or not data.removeprefix(b"\xef\xbb\xbf").strip():
        fresh = {"hooks": {event: [entry] for event, entry in entries.items()}}
        return (json.dumps(fresh, indent=2, ensure_ascii=False) + "\n").encode("utf-8")
    document = read_json_text(data, path)
    for event in _events_of_ours(document, is_ours):
        if event not in entries:
            document = _without_event(document, event, is_ours, _Existed())
    for event, entry in entries.items():
        document = _with_entry(document, event, entry, is_ours)
    return checked(document)


def remove_entries(data: bytes, is_ours: IsOurs, path: Path, before: bytes | None = None) -> bytes:
    """Return the text without our entries and without the containers that held nothing else.

    before: the text as it was before the first insertion; containers that were already there,
    empty, stay. Raises InstallError as `insert_entries` does.
    """
    if not data.removeprefix(b"\xef\xbb\xbf").strip():
        return data
    document = read_json_text(data, path)
    existed = _Existed.read(before, path)
    for event in _events_of_ours(document, is_ours):
        document = _without_event(document, event, is_ours, existed)
    return checked(document)


def events_of_ours(data: bytes, is_ours: IsOurs, path: Path) -> dict[str, list[Any]]:
    """Our entries as decoded values, by event."""
    if not data.removeprefix(b"\xef\xbb\xbf").strip():
        return {}
    document = read_json_text(data, path)
    hooks = _hooks_member(document)
    found = {}
    for event in _events_of_ours(document, is_ours):
        spans = elements(document, _event_member(document, hooks, event).start)  # type: ignore[union-attr]
        found[event] = [_decoded(document, span) for span in spans if _hooks_of(span, is_ours)]
    return found


def is_empty_document(data: bytes) -> bool:
    """Whether nothing but an empty object is left."""
    return b"".join(data.removeprefix(b"\xef\xbb\xbf").split()) in (b"", b"{}")


# -- reading ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Existed:
    """Which containers stood in the file before us; those stay although they fall empty."""

    hooks: bool = False
    events: frozenset[str] = frozenset()

    @classmethod
    def read(cls, before: bytes | None, path: Path) -> _Existed:
        if before is None or not before.removeprefix(b"\xef\xbb\xbf").strip():
            return cls()
        value = read_json_text(before, path).value
        hooks = value.get("hooks") if isinstance(value, dict) else None
        if not isinstance(hooks, dict):
            return cls()
        return cls(True, frozenset(hooks))


def _hooks_member(document: JsonText) -> Span | None:
    start = root_start(document)
    if document.text[start] != "{":
        refuse(document, start, "the settings are not a JSON object")
    found = _only(document, [m for m in members(document, start) if m.key == "hooks"])
    if found is not None and not isinstance(found.value, dict):
        refuse(document, found.start, "`hooks` is not an object")
    return found


def _event_member(document: JsonText, hooks: Span | None, event: str) -> Span | None:
    if hooks is None:
        return None
    found = _only(document, [m for m in members(document, hooks.start) if m.key == event])
    if found is not None and not isinstance(found.value, list):
        refuse(document, found.start, f"`hooks.{event}` is not a list")
    return found


def _only(document: JsonText, spans: list[Span]) -> Span | None:
    if len(spans) > 1:
        refuse(document, spans[1].key_start, f"the key `{spans[1].key}` stands here a second time")
    return spans[0] if spans else None


def _hooks_of(entry: Span, is_ours: IsOurs) -> int:
    """How many hooks of ours an entry (flat or group) holds."""
    if not isinstance(entry.value, dict):
        return 0
    inner = entry.value.get("hooks")
    if isinstance(inner, list):
        return sum(isinstance(hook, dict) and is_ours(hook) for hook in inner)
    return int(is_ours(entry.value))


def _is_wholly_ours(entry: Span, is_ours: IsOurs) -> bool:
    inner = entry.value.get("hooks")
    return _hooks_of(entry, is_ours) == (len(inner) if isinstance(inner, list) else 1)


def _events_of_ours(document: JsonText, is_ours: IsOurs) -> list[str]:
    hooks = _hooks_member(document)
    if hooks is None:
        return []
    found = []
    for event in members(document, hooks.start):
        if isinstance(event.value, list) and any(
            _hooks_of(entry, is_ours) for entry in elements(document, event.start)
        ):
            found.append(event.key)
    return found


def _decoded(document: JsonText, span: Span) -> Any:
    try:
        return json.loads(document.text[span.start : span.end])
    except ValueError:  # an integer beyond what Python reads: surely not what we write
        return None


# -- changing -----------------------------------------------------------------------------------


def _with_entry(
    document: JsonText, event: str, entry: Mapping[str, Any], is_ours: IsOurs
) -> JsonText:
    hooks = _hooks_member(document)
    if hooks is None:
        return append(document, root_start(document), "hooks", {event: [entry]})
    listed = _event_member(document, hooks, event)
    if listed is None:
        return append(document, hooks.start, event, [entry])
    kept = _kept_entry(document, listed, is_ours)
    document = _without_entries(document, event, is_ours, keep=kept.start if kept else None)
    listed = _event_member(document, _hooks_member(document), event)
    assert listed is not None
    kept = _kept_entry(document, listed, is_ours)
    if kept is None:
        return append(document, listed.start, None, entry)
    if _decoded(document, kept) == entry:
        return document
    style = JsonStyle.of(document.text)
    own_line = own_line_indent(document.text, kept.start)
    rendered = style.render(entry, own_line)
    return replaced(document, kept.start, kept.end, rendered)


def _kept_entry(document: JsonText, listed: Span, is_ours: IsOurs) -> Span | None:
    for entry in elements(document, listed.start):
        if _hooks_of(entry, is_ours) and _is_wholly_ours(entry, is_ours):
            return entry
    return None


def _without_event(document: JsonText, event: str, is_ours: IsOurs, existed: _Existed) -> JsonText:
    document = _without_entries(document, event, is_ours, keep=None)
    hooks = _hooks_member(document)
    listed = _event_member(document, hooks, event)
    assert hooks is not None
    assert listed is not None
    if listed.value or event in existed.events:
        return document
    document = cut(document, hooks.start, listed)
    hooks = _hooks_member(document)
    assert hooks is not None
    if hooks.value or existed.hooks:
        return document
    return cut(document, root_start(document), hooks)


def _without_entries(document: JsonText, event: str, is_ours: IsOurs, keep: int | None) -> JsonText:
    """Take our hooks out of an event's list, but for the entry that starts at `keep`."""
    while True:
        listed = _event_member(document, _hooks_member(document), event)
        assert listed is not None
        ours = [
            entry
            for entry in elements(document, listed.start)
            if _hooks_of(entry, is_ours) and entry.start != keep
        ]
        if not ours:
            return document
        last = ours[-1]
        if keep is not None and last.start < keep:
            shrunk = _without_one(document, listed, last, is_ours)
            keep -= len(document.text) - len(shrunk.text)
            document = shrunk
        else:
            document = _without_one(document, listed, last, is_ours)


def _without_one(document: JsonText, listed: Span, entry: Span, is_ours: IsOurs) -> JsonText:
    if _is_wholly_ours(entry, is_ours):
        return cut(document, listed.start, entry)
    group = next(m for m in members(document, entry.start) if m.key == "hooks")
    hook = next(
        h for h in elements(document, group.start) if isinstance(h.value, dict) and is_ours(h.value)
    )
    return cut(document, group.start, hook)
