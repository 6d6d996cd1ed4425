"""How a JSON text is written (indentation, line ends, spacing), and new values in the same way."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class JsonStyle:
    """How the file is written. unit: one step of indentation, "" when it is all on one line."""

    newline: str
    unit: str
    comma_space: str
    colon_space: str

    @classmethod
    def of(cls, text: str) -> JsonStyle:
        body = text.strip(" \t\r\n")
        first_newline = body.find("\n")
        newline = "\r\n" if first_newline > 0 and body[first_newline - 1] == "\r" else "\n"
        colon = re.search(r'"\s*:([ \t]*)', body)
        comma = re.search(r",([ ]*)\S", body)
        one_line = first_newline < 0 and colon is not None
        indent = re.search(r"\n([ \t]+)\S", body)
        return cls(
            newline if first_newline >= 0 else ("\r\n" if "\r\n" in text else "\n"),
            "" if one_line else (indent.group(1) if indent else "  "),
            (comma.group(1) if comma else (colon.group(1) if colon else " ")) if one_line else " ",
            colon.group(1) if one_line and colon else " ",
        )

    def render_item(self, key: str | None, value: Any, indent: str | None) -> str:
        """indent: of the line the item begins; None when it stays on its neighbours' line."""
        rendered = self.render(value, indent)
        if key is None:
            return rendered
        return f"{json.dumps(key, ensure_ascii=False)}:{self.colon_space}{rendered}"

    def render(self, value: Any, indent: str | None) -> str:
        if indent is None or not self.unit:
            separators = ("," + self.comma_space, ":" + self.colon_space)
            return json.dumps(value, ensure_ascii=False, separators=separators)
        text = json.dumps(value, ensure_ascii=False, indent=self.unit)
        return text.replace("\n", self.newline + indent)


def line_indent(text: str, index: int) -> str:
    line = text[text.rfind("\n", 0, index) + 1 : index]
    return line[: len(line) - len(line.lstrip(" \t"))]


def own_line_indent(text: str, index: int) -> str | None:
    """The white space before `index` on its line; None when something else stands before it, or
    when the text has only one line."""
    line_start = text.rfind("\n", 0, index) + 1
    before = text[line_start:index]
    if before.strip(" \t") or not line_start:
        return None
    return before
