"""Cuts an item out of a JSON text, or adds one in its neighbours' style; no other byte changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from skill_learner.install.json_scanner import (
    JsonText,
    Span,
    container_end,
    elements,
    members,
    read_json_text,
    refuse,
    root_start,
)
from skill_learner.install.json_style import JsonStyle, line_indent, own_line_indent


def insert_members(data: bytes, wanted: Mapping[str, Any], path: Path) -> bytes:
    """Return the text with those of `wanted` whose key its top object lacks."""
    document = read_json_text(data, path)
    for key, value in wanted.items():
        if _member(document, key) is None:
            document = append(document, root_start(document), key, value)
    return checked(document)


def remove_members(data: bytes, unwanted: Mapping[str, Any], path: Path) -> bytes:
    """Return the text without those top members that have just the value in `unwanted`."""
    if not unwanted or not data.removeprefix(b"\xef\xbb\xbf").strip():
        return data
    document = read_json_text(data, path)
    for key, value in unwanted.items():
        found = _member(document, key)
        # the scanner reads numbers as text
        if found is not None and str(found.value) == str(value):
            document = cut(document, root_start(document), found)
    return checked(document)


def _member(document: JsonText, key: str) -> Span | None:
    start = root_start(document)
    if document.text[start] != "{":
        refuse(document, start, "the settings are not a JSON object")
    return next((span for span in members(document, start) if span.key == key), None)


def cut(document: JsonText, container: int, item: Span) -> JsonText:
    """Remove one member or element with the comma and the white space that belong to it."""
    text = document.text
    siblings = list(
        members(document, container) if text[container] == "{" else elements(document, container)
    )
    place = next(i for i, sibling in enumerate(siblings) if sibling.start == item.start)
    if len(siblings) == 1:
        return replaced(document, container + 1, container_end(text, container, item), "")
    if place == 0:
        return replaced(document, item.key_start, siblings[1].key_start, "")
    return replaced(document, siblings[place - 1].end, item.end, "")


def append(document: JsonText, container: int, key: str | None, value: Any) -> JsonText:
    """Add a member (with `key`) or an element at the end of the container that starts there."""
    text = document.text
    style = JsonStyle.of(text)
    is_object = text[container] == "{"
    siblings = list(members(document, container) if is_object else elements(document, container))
    last = siblings[-1] if siblings else None
    indent = own_line_indent(text, last.key_start) if last else None
    if last is None and style.unit:
        outer = line_indent(text, container)
        indent = outer + style.unit
        item = style.render_item(key, value, indent)
        inside = style.newline + indent + item + style.newline + outer
        return replaced(document, container + 1, container_end(text, container, None), inside)
    item = style.render_item(key, value, indent)
    if last is None:
        return replaced(document, container + 1, container_end(text, container, None), item)
    gap = "," + (style.comma_space if indent is None else style.newline + indent)
    return replaced(document, last.end, last.end, gap + item)


def replaced(document: JsonText, start: int, end: int, new: str) -> JsonText:
    text = document.text[:start] + new + document.text[end:]
    return replace(document, text=text)


def checked(document: JsonText) -> bytes:
    """The text's bytes, after a last look that the splices left it strict JSON."""
    data = document.encode(document.text)
    read_json_text(data, document.path)
    return data
