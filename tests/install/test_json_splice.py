"""Hook entries in settings texts: foreign bytes stay, ours come and go whole."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skill_learner.errors import InstallError
from skill_learner.install.json_splice import events_of_ours, insert_entries, remove_entries

PATH = Path("settings.json")
EVENTS = ("SessionStart", "PostToolUse", "Stop")
BOM = b"\xef\xbb\xbf"


def is_ours(hook: Mapping[str, Any]) -> bool:
    command = hook.get("command")
    return isinstance(command, str) and command.startswith("ours")


def entry(event: str, command: str = "ours") -> dict[str, Any]:
    return {"hooks": [{"type": "command", "command": f"{command} {event}"}]}


ENTRIES = {event: entry(event) for event in EVENTS}


def inserted(data: bytes | None) -> bytes:
    return insert_entries(data, ENTRIES, is_ours, PATH)


def hooks_of(data: bytes) -> dict[str, list[Any]]:
    hooks: dict[str, list[Any]] = json.loads(data.removeprefix(BOM), parse_int=str)["hooks"]
    return hooks


def dumped(value: object) -> bytes:
    return json.dumps(value, indent=2).encode()


FOREIGN = {"matcher": "Bash", "hooks": [{"type": "command", "command": "theirs"}]}

IN_THE_WILD: dict[str, bytes] = {
    "empty object": b"{}",
    "empty object, spaced": b"{ \n }\n",
    "no hooks": dumped({"model": "opus", "permissions": {"allow": ["Bash(ls)"]}}),
    "no final newline": b'{\n  "model": "opus"\n}',
    "final newlines": b'{\n  "model": "opus"\n}\n\n\n',
    "four spaces": json.dumps({"a": {"b": [1, 2]}}, indent=4).encode(),
    "tabs and CRLF": b'{\r\n\t"model": "opus",\r\n\t"hooks": {\r\n\t}\r\n}\r\n',
    "byte order mark": BOM + dumped({"model": "opus"}),
    "byte order mark, minified": BOM + b'{"model":"opus"}',
    "minified": b'{"model":"opus","hooks":{"Stop":[{"hooks":[]}]}}',
    "one line with spaces": b'{"model": "opus", "hooks": {}}',
    "foreign groups of the same events": dumped(
        {"hooks": {"Stop": [FOREIGN, FOREIGN], "PostToolUse": [FOREIGN]}, "z": 1}
    ),
    "foreign events": dumped({"hooks": {"Notification": [FOREIGN], "Nonsense": 5}}),
    "foreign entries of odd shapes": dumped(
        {"hooks": {"Stop": [None, 3, "x", {"hooks": None}, {"hooks": [1, {}]}, {"command": 7}]}}
    ),
    "empty lists": b'{"hooks": {"Stop": [], "SessionStart": [ ]}}',
    "mixed styles": b'{"a":1,\n      "hooks" : {"Stop":[\n{"x":1}  ] }\n , "b" :2}',
    "odd strings": '{"k\\u0041": "a, b: {[\\"}", "ü": "\\ud83d", "n": 1e400}'.encode(),
    "duplicate foreign keys": b'{"a": 1, "a": 2}',
    "huge number": b'{"n": ' + b"9" * 5000 + b"}",
}


@pytest.mark.parametrize("data", IN_THE_WILD.values(), ids=IN_THE_WILD)
def test_ours_are_added_and_removed_without_a_foreign_byte_changed(data: bytes) -> None:
    after = inserted(data)
    assert inserted(after) == after
    hooks = hooks_of(after)
    for event in EVENTS:
        assert hooks[event][-1] == entry(event)
    removed = remove_entries(after, is_ours, PATH, data)
    if re.search(rb"[{\[]\s+[}\]]", data):  # white space in a container that we filled is lost
        removed, data = (re.sub(rb"\s", b"", text) for text in (removed, data))
    assert removed == data


@pytest.mark.parametrize("data", [None, b"", b" \n", BOM])
def test_a_file_that_holds_nothing_becomes_a_fresh_document(data: bytes | None) -> None:
    assert hooks_of(inserted(data)) == {event: [entry(event)] for event in EVENTS}


@pytest.mark.parametrize(
    ("before", "added"),
    [
        (b'{\r\n\t"a": 1\r\n}', b'\r\n\t\t"Stop": [\r\n\t\t\t{'),
        (b'{\n    "a": 1\n}', b'\n        "Stop": [\n            {'),
        (b'{"a":1}', b'"Stop":[{"hooks":[{"type":"command",'),
        (b'{"a": 1}', b'"Stop": [{"hooks": [{"type": "command", '),
    ],
)
def test_new_text_is_in_the_style_of_the_file(before: bytes, added: bytes) -> None:
    assert added in insert_entries(before, {"Stop": entry("Stop")}, is_ours, PATH)


OLD = entry("Stop", "ours-of-version-1")
OLDER_VERSIONS: dict[str, tuple[list[Any], list[Any]]] = {
    "replaced in place": ([OLD, FOREIGN], [entry("Stop"), FOREIGN]),
    "three copies become one": ([OLD, OLD, FOREIGN, OLD], [entry("Stop"), FOREIGN]),
    "with another timeout": (
        [{"hooks": [{"type": "command", "command": "ours Stop", "timeout": 9}]}],
        [entry("Stop")],
    ),
    "inside a group of the user's": (
        [{"matcher": "x", "hooks": [OLD["hooks"][0], FOREIGN["hooks"][0], OLD["hooks"][0]]}],
        [{"matcher": "x", "hooks": [FOREIGN["hooks"][0]]}, entry("Stop")],
    ),
    "mixed group before our own": (
        [{"hooks": [FOREIGN["hooks"][0], OLD["hooks"][0]]}, OLD],
        [{"hooks": [FOREIGN["hooks"][0]]}, entry("Stop")],
    ),
    "flat": (
        [{"command": "ours-old"}, {"command": "theirs"}],
        [entry("Stop"), {"command": "theirs"}],
    ),
}


@pytest.mark.parametrize(("old", "new"), OLDER_VERSIONS.values(), ids=OLDER_VERSIONS)
def test_entries_of_an_older_version_are_replaced_never_doubled(
    old: list[Any], new: list[Any]
) -> None:
    after = insert_entries(dumped({"hooks": {"Stop": old}}), {"Stop": entry("Stop")}, is_ours, PATH)
    assert hooks_of(after) == {"Stop": new}


def test_an_event_we_no_longer_use_is_given_up() -> None:
    before = dumped({"hooks": {"PostToolBatch": [OLD], "Setup": [OLD, FOREIGN]}})
    after = hooks_of(inserted(before))
    assert "PostToolBatch" not in after
    assert after["Setup"] == [FOREIGN]


def test_removal_without_knowledge_takes_the_containers_it_emptied() -> None:
    assert json.loads(remove_entries(inserted(b'{"a": 1}'), is_ours, PATH)) == {"a": 1}
    mixed = dumped({"hooks": {"Stop": [FOREIGN], "Setup": []}})
    assert json.loads(remove_entries(inserted(mixed), is_ours, PATH)) == json.loads(mixed)


def test_removal_after_someone_wrote_the_file_anew() -> None:
    after = json.loads(inserted(dumped({"hooks": {"Stop": [FOREIGN]}})))
    after["hooks"]["Stop"].append({"hooks": [{"type": "command", "command": "later"}]})
    after["model"] = "haiku"
    left = json.loads(remove_entries(json.dumps(after).encode(), is_ours, PATH))
    later = {"hooks": [{"type": "command", "command": "later"}]}
    assert left == {"hooks": {"Stop": [FOREIGN, later]}, "model": "haiku"}


REFUSED: dict[str, tuple[bytes, str]] = {
    "line comment": (b'{\n  // note\n  "a": 1\n}', "2:3: comments are not allowed"),
    "block comment": (b'{"a": /* x */ 1}', "1:7: comments are not allowed"),
    "comment at the end": (b"{}\n# x", "2:1: comments are not allowed"),
    "trailing comma": (b'{\n  "a": 1,\n}', "2:9: trailing comma"),
    "trailing comma in a list": (b'{"a": [1, ]}', "1:9: trailing comma"),
    "truncated": (b'{"a": {"b": 1', "truncated"),
    "two documents": (b"{}\n{}", "2:1: extra data"),
    "single quotes": (b"{'a': 1}", "1:2:"),
    "not a number": (b'{"a": NaN}', "1:7: NaN is no JSON value"),
    "control character": (b'{"a": "\x01"}', "1:8:"),
    "not UTF-8": (b'{\n"a": "\xff"}', "2:7: not UTF-8"),
    "UTF-16": ("{}".encode("utf-16"), "not UTF-8"),
    "a list": (b"[]", "1:1: the settings are not a JSON object"),
    "hooks is a list": (b'{"hooks": []}', "1:11: `hooks` is not an object"),
    "hooks is null": (b'{"hooks": null}', "1:11: `hooks` is not an object"),
    "event is an object": (b'{"hooks": {"Stop": {}}}', "`hooks.Stop` is not a list"),
    "hooks twice": (b'{"hooks": {},\n "hooks": {}}', "2:2: the key `hooks` stands here a second"),
    "event twice": (b'{"hooks": {"Stop": [], "Stop": []}}', "1:24: the key `Stop`"),
    "endless nesting": (b"[" * 100_000, "nested too deeply"),
}


@pytest.mark.parametrize(("data", "place"), REFUSED.values(), ids=REFUSED)
def test_what_is_not_strict_json_is_refused_by_line_and_column(data: bytes, place: str) -> None:
    with pytest.raises(InstallError) as caught:
        inserted(data)
    assert place in caught.value.message
    assert caught.value.message.startswith("settings.json")
    assert "untouched" in caught.value.hint


def test_the_refusal_says_what_the_editor_makes_of_such_a_file() -> None:
    with pytest.raises(InstallError) as caught:
        inserted(b'{"a": 1,}')
    assert "Claude Code drops such a file whole" in caught.value.hint


def test_two_megabytes_of_settings() -> None:
    data = dumped({"list": [{"number": i, "text": "y" * 20} for i in range(30_000)], "hooks": {}})
    assert len(data) > 1_900_000
    after = inserted(data)
    assert remove_entries(after, is_ours, PATH, data) == data


def test_our_entries_are_told_by_event() -> None:
    assert events_of_ours(inserted(b'{"n": 1}'), is_ours, PATH) == {e: [entry(e)] for e in EVENTS}
    assert events_of_ours(b"", is_ours, PATH) == {}


# -- random documents ---------------------------------------------------------------------------

_WHITE = st.text(alphabet=" \t\n\r", max_size=3)
_HOOK_COMMANDS = st.sampled_from(["theirs", "ours old", "", "ourselves?"])


def _written(draw: st.DrawFn, value: object) -> str:
    """`value` as JSON text with random white space between all tokens."""
    gap = lambda: draw(_WHITE)  # noqa: E731
    if isinstance(value, dict):
        items = [
            f"{gap()}{json.dumps(k)}{gap()}:{gap()}{_written(draw, v)}{gap()}"
            for k, v in value.items()
        ]
        return "{" + (",".join(items) or gap()) + "}"
    if isinstance(value, list):
        items = [f"{gap()}{_written(draw, item)}{gap()}" for item in value]
        return "[" + (",".join(items) or gap()) + "]"
    return json.dumps(value, ensure_ascii=draw(st.booleans()))


_SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
_VALUES = st.recursive(
    _SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)
_ENTRIES = st.builds(
    lambda commands: {"hooks": [{"type": "command", "command": c} for c in commands]},
    st.lists(_HOOK_COMMANDS, max_size=3),
)
_LISTS = st.lists(_ENTRIES | _VALUES.filter(lambda v: not isinstance(v, dict)), max_size=3)


@st.composite
def documents(draw: st.DrawFn) -> bytes:
    value = draw(
        st.dictionaries(st.text(max_size=4).filter(lambda k: k != "hooks"), _VALUES, max_size=3)
    )
    if draw(st.booleans()):
        events = st.sampled_from([*EVENTS, "Setup"])
        value["hooks"] = draw(st.dictionaries(events, _LISTS, max_size=3))
    text = draw(_WHITE) + _written(draw, value) + draw(_WHITE)
    return (BOM if draw(st.booleans()) else b"") + text.encode()


def _foreign_part(data: bytes) -> Any:
    """The document without our hooks and without what is empty for that reason."""
    value = json.loads(data.removeprefix(BOM))
    hooks = value.pop("hooks", {})
    kept = {}
    for event, entries in hooks.items():
        rest = []
        for item in entries:
            if isinstance(item, dict) and isinstance(item.get("hooks"), list) and item["hooks"]:
                foreign = [h for h in item["hooks"] if not is_ours(h)]
                if not foreign:
                    continue
                rest.append({**item, "hooks": foreign})
            else:
                rest.append(item)
        if rest:
            kept[event] = rest
    return value, kept


@settings(max_examples=120, deadline=None)
@given(documents())
def test_any_document_twice_is_once_and_nothing_foreign_is_lost(data: bytes) -> None:
    after = inserted(data)
    assert inserted(after) == after
    ours = events_of_ours(after, is_ours, PATH)
    assert ours == {event: [entry(event)] for event in EVENTS}
    assert _foreign_part(after) == _foreign_part(data)
    removed = remove_entries(after, is_ours, PATH, data)
    assert events_of_ours(removed, is_ours, PATH) == {}
    assert _foreign_part(removed) == _foreign_part(data)
