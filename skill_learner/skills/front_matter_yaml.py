"""Front matter as YAML: every scalar as its own text, and the keys of which one text is lost."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

TWICE = "occurs twice; the last counts, so take the other out"
_ANCHOR_VALUE = re.compile(r"^\w[\w.-]*:[ \t]+&", re.MULTILINE)
_METADATA = "metadata"


def load_yaml(text: str, first_line: int) -> tuple[Any, tuple[str, ...]]:
    """The value, and notes of keys that stand twice, at the top or anywhere in `metadata` (what is
    below other keys is kept as it stands). first_line: the number of the text's first line.

    Anchors and aliases are refused: a few lines of them expand to gigabytes, and in real files they
    are plain `&` and `*`. ValueError for all faults.
    """
    import yaml
    from frontmatter.default_handlers import YAMLHandler

    loader = _loader()
    try:
        if _ANCHOR_VALUE.search(text) or ("*" in text and "&" in text and _has_alias(text, loader)):
            raise ValueError("anchors and aliases are not read")
        loaded = YAMLHandler().load(text, Loader=loader)
        return (
            (None, ()) if loaded is None else (loaded[0], tuple(_repeated(loaded[1], first_line)))
        )
    except (yaml.YAMLError, RecursionError, TypeError) as error:
        raise ValueError(str(error)) from error


@cache
def _loader() -> Any:
    """A loader that gives a document's value together with its nodes."""
    import yaml

    base = getattr(yaml, "CBaseLoader", yaml.BaseLoader)

    class ValueAndNodes(base):  # type: ignore[valid-type,misc]
        def get_single_data(self) -> Any:
            node = self.get_single_node()
            return None if node is None else (self.construct_document(node), node)

    return ValueAndNodes


def twice(key: str, line: int) -> str:
    """The note of a key that stands a second time at that line."""
    return f"line {line}: key {key!r} {TWICE}"


def unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """For `json.loads`: an object as it stands; ValueError where a key of it stands twice."""
    if len(found := dict(pairs)) < len(pairs):
        raise ValueError("a key stands twice")
    return found


def _has_alias(text: str, loader: Any) -> bool:
    import yaml

    return any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, Loader=loader))


def _repeated(node: Any, first_line: int, above: str = "") -> Iterator[str]:
    """above: the keys that lead to the node, joined by dots."""
    if node.id == "sequence":
        for item in node.value:
            yield from _repeated(item, first_line, above)
    if node.id != "mapping":
        return
    seen = set()
    for key, value in node.value:
        path = f"{above}.{key.value}" if above else str(key.value)
        if key.value in seen:
            yield twice(path, first_line + int(key.start_mark.line))
        seen.add(key.value)
        if above or path == _METADATA:
            yield from _repeated(value, first_line, path)
