"""Our block in a Markdown file that the agent reads, and text that is safe inside it."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

from skill_learner.install import marked_block
from skill_learner.install.marked_block import BlockStyle

STYLE = BlockStyle(
    begin=b"<!-- skill-learner:begin -->",
    end=b"<!-- skill-learner:end -->",
    fences=True,
    blank_line=True,
)

_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_MENTION = re.compile(r"\S*[@\N{FULLWIDTH COMMERCIAL AT}]\S*")
_JOINERS = "\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}"


def read_block(data: bytes, path: Path) -> bytes | None:
    return marked_block.read_block(data, STYLE, path)


def put_block(data: bytes, body: str, path: Path) -> bytes:
    """`body` is our own Markdown; what came from elsewhere in it has been through `neutralised`."""
    return marked_block.put_block(data, body.encode("utf-8"), STYLE, path)


def take_block(data: bytes, path: Path, before: bytes | None = None) -> bytes:
    return marked_block.take_block(data, STYLE, path, before)


def neutralised(text: str) -> str:
    """One line of plain words: nothing in it opens a comment, tag, code fence, link or heading,
    imports a file (`@path` is expanded anywhere in a line, but not in a code span), or is invisible
    to a reader.
    """
    visible = "".join(c for c in " ".join(text.split()) if _is_visible(c))
    plain = visible.replace("`", "'").replace("](", "] (").replace("~~~", "~ ~ ~")
    plain = _TAG.sub("&lt;", plain).replace("-->", "--&gt;")
    return _MENTION.sub(lambda match: f"`{match.group()}`", plain)


def _is_visible(character: str) -> bool:
    """Control, format (bidirectional marks, tag characters), private and surrogate ones are not;
    joiners are letters' business in several scripts."""
    return character in _JOINERS or not unicodedata.category(character).startswith("C")
