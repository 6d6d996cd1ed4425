"""Characters that a reader does not see, found without looking at every other one.

Most of a text is ASCII, and `re` takes its time for each character of it. What lies beyond is
picked out first, at the speed of a copy.
"""

from __future__ import annotations

import re

SURROGATE = re.compile("[\ud800-\udfff]")
"""Half of a letter, or a byte of a name that is no UTF-8: no file and no database holds one."""
_ASCII = bytes(range(128))
_HIDDEN = re.compile(
    "[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\U000e0000-\U000e007f]"
)


def beyond_ascii(text: str) -> str:
    """The characters of a text that are not ASCII, in their order."""
    if text.isascii():
        return ""
    data = text.encode("utf-8", "surrogatepass").translate(None, _ASCII)
    return data.decode("utf-8", "surrogatepass")


def has_hidden(text: str) -> bool:
    """Whether a text holds zero width characters, direction marks or tags."""
    return _HIDDEN.search(beyond_ascii(text)) is not None


def without_hidden(text: str) -> str:
    return _HIDDEN.sub("", text) if has_hidden(text) else text
