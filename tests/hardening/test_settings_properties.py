"""Settings and notes made of every quirk at once: init, init again, an upgrade, uninstall."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skill_learner.errors import InstallError
from skill_learner.install.installer import install, uninstall
from skill_learner.paths import StatePaths
from skill_learner.targets import TARGETS, get_target

OURS = 'h="${HOME:-}/.skill_learner/hook.sh"; [ -e "$h" ] || exit 0; '
OURS += 'set -- claude-code Stop; . "$h"'
EVENTS = ("Stop", "SessionEnd", "PreToolUse", "Notification", "BrandNew")


class _Raw(str):
    """A number as it is spelled."""

    __slots__ = ()


scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 10**20),
    st.sampled_from(["1.50", "1e3", "-0", "1E+2"]).map(_Raw),
    st.text(max_size=8),
    st.sampled_from(["é/😀", "\u2028", "// no comment", "/* none */", ",}", '"', "\\", "hooks"]),
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)
foreign_hook = st.fixed_dictionaries(
    {"type": st.just("command"), "command": st.text(max_size=20)},
    optional={
        "timeout": st.integers(1, 99),
        "shell": st.just("powershell"),
        "async": st.booleans(),
    },
)
group = st.fixed_dictionaries(
    {"hooks": st.lists(foreign_hook, max_size=2)},
    optional={"matcher": st.sampled_from(["Bash|Edit", "*", ""]), "x-note": values},
)
flat = st.fixed_dictionaries({"command": st.text(max_size=20)}, optional={"timeout": st.just(5)})
older = st.just({"hooks": [{"type": "command", "command": OURS, "timeout": 5}]})


@dataclass(frozen=True)
class Spelling:
    """How a user, or their tools, write a value down."""

    bom: bool
    newline: str
    indent: str
    space: str
    final: str
    comment: str
    trailing_comma: bool
    twice: bool

    @property
    def is_json(self) -> bool:
        return not (self.comment or self.trailing_comma)

    def write(self, value: dict[str, Any]) -> bytes:
        text = self._value(value, 0)
        if self.twice and value:
            first = json.dumps(next(iter(value)))
            text = text.replace("{", "{" + first + f":{self.space}0,", 1)
        if self.comment:
            text = text.replace("{", "{" + self.comment + self.newline, 1)
        return (("\ufeff" if self.bom else "") + text + self.final).encode("utf-8", "surrogatepass")

    def _value(self, value: Any, depth: int) -> str:
        if isinstance(value, _Raw):
            return str(value)
        if not isinstance(value, dict | list) or not value:
            return json.dumps(value, ensure_ascii=depth % 2 == 0)
        pad = self.newline + self.indent * (depth + 1)
        if isinstance(value, dict):
            items = [
                json.dumps(key) + ":" + self.space + self._value(one, depth + 1)
                for key, one in value.items()
            ]
        else:
            items = [self._value(one, depth + 1) for one in value]
        text = pad + ("," + pad).join(items)
        text += "," if self.trailing_comma else ""
        opening, closing = "{}" if isinstance(value, dict) else "[]"
        return opening + text + self.newline + self.indent * depth + closing


spellings = st.builds(
    Spelling,
    bom=st.booleans(),
    newline=st.sampled_from(["\n", "\r\n", ""]),
    indent=st.sampled_from(["  ", "\t", "    ", ""]),
    space=st.sampled_from([" ", "", "  "]),
    final=st.sampled_from(["", "\n", "\r\n", "\n\n", "  "]),
    comment=st.sampled_from(["", "", "", "", "// mine", "/* mine */"]),
    trailing_comma=st.sampled_from([False, False, False, True]),
    twice=st.sampled_from([False, False, False, True]),
)


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    document: dict[str, Any] = draw(st.dictionaries(st.text(max_size=6), values, max_size=3))
    document.pop("hooks", None)
    if draw(st.booleans()):
        entries = draw(st.sampled_from([group, flat, st.one_of(group, older), values]))
        events = st.dictionaries(st.sampled_from(EVENTS), st.lists(entries, max_size=3))
        document["hooks"] = draw(events | values)
    order = draw(st.permutations(sorted(document)))
    return {key: document[key] for key in order}


BEGIN, END = "<!-- skill-learner:begin -->", "<!-- skill-learner:end -->"
note_parts = st.lists(
    st.one_of(
        st.text(st.characters(blacklist_categories=("Cs",)), max_size=20),
        st.sampled_from([
            "# Rules", BEGIN, END, f"{BEGIN}\nx\n{END}", f"```\n{BEGIN}\n```", f"~~~md\n{END}\n~~~",
            f"    {BEGIN}", f"> {END}", f"text {BEGIN} text", f"<!-- other:begin -->\n{BEGIN}\n"
            f"{END}\n<!-- other:end -->", "```", "<!-- open", "@AGENTS.md", "<details>", "\f", "\t",
        ]),
    ),
    max_size=5,
)  # fmt: skip


@contextmanager
def place() -> Iterator[tuple[Path, StatePaths]]:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        (root / "p").mkdir()
        yield root / "p", StatePaths(root / "state")


def files_in(project: Path) -> dict[str, tuple[bytes, int, str]]:
    return {
        str(path.relative_to(project)): (
            path.read_bytes(),
            path.stat().st_mode,
            os.readlink(path) if path.is_symlink() else "",
        )
        for path in project.rglob("*")
        if path.is_file()
    }


def holds_ours(target: str, data: bytes) -> bool:
    """An entry of an older version; one of another editor's is foreign to this one."""
    return target == "claude-code" and b".skill_learner/hook.sh" in data


def walk(target: str, project: Path, state: StatePaths) -> None:
    """init, init, init of a later version, uninstall; or a refusal that touches nothing."""
    before = files_in(project)
    try:
        install(target, "project", project, state)
    except InstallError:
        assert files_in(project) == before
        assert not state.root.exists()
        return
    installed = files_in(project)
    install(target, "project", project, state)
    assert files_in(project) == installed
    uninstall(target, None, project, state)
    after = files_in(project)
    assert set(after) <= set(before)
    for name, (data, mode, link) in before.items():
        if name not in after:  # it held nothing but ours
            assert holds_ours(target, data)
            continue
        assert after[name][1:] == (mode, link)
        if holds_ours(target, data):
            assert not holds_ours(target, after[name][0])
        else:
            assert after[name][0] == data


many = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow], database=None
)


@pytest.mark.parametrize("target", sorted(TARGETS))
@many
@given(documents(), spellings, st.sampled_from(["file", "link", "read-only"]))
def test_settings_of_any_spelling_come_through_or_are_refused_untouched(
    target: str, document: dict[str, Any], spelling: Spelling, kind: str
) -> None:
    with place() as (project, state):
        path = project / get_target(target).SETTINGS_FILE["project"]
        path.parent.mkdir()
        file = project / "kept" / "s.json" if kind == "link" else path
        file.parent.mkdir(exist_ok=True)
        data = spelling.write(document)
        file.write_bytes(data)
        if kind == "link":
            path.symlink_to("../kept/s.json")
        if kind == "read-only":
            file.chmod(0o440)
        walk(target, project, state)
        if not spelling.is_json:
            assert file.read_bytes() == data


@pytest.mark.parametrize("target", sorted(TARGETS))
@many
@given(
    note_parts,
    st.sampled_from(["\n", "\r\n", "\n\n"]),
    st.sampled_from(["", "\n", "\r\n", " "]),
    st.booleans(),
    st.booleans(),
)
def test_notes_of_any_parts_come_through_or_are_refused_untouched(
    target: str, parts: list[str], between: str, final: str, bom: bool, linked: bool
) -> None:
    with place() as (project, state):
        path = project / get_target(target).INDEX_FILE["project"]
        file = project / "NOTES.md" if linked else path
        text = between.join(parts) + final
        file.write_bytes((("\ufeff" if bom else "") + text).encode())
        if linked:
            path.symlink_to("NOTES.md")
        before = file.read_bytes()
        walk_notes(target, project, state, file, before)


def walk_notes(target: str, project: Path, state: StatePaths, file: Path, before: bytes) -> None:
    """A whole block of ours that stood there before is taken out at the end; nothing else is."""
    had = files_in(project)
    try:
        install(target, "project", project, state)
    except InstallError:
        assert files_in(project) == had
        return
    first = files_in(project)
    install(target, "project", project, state)
    assert files_in(project) == first
    uninstall(target, None, project, state)
    # a file that held nothing but a block of ours goes, but for a link's
    after = file.read_bytes() if file.exists() else b""
    assert after == before or after in _without_a_block_of_ours(before), (before, after)


def _without_a_block_of_ours(text: bytes) -> list[bytes]:
    """What may be left when a block goes that stood there before, and the line ends around it."""
    found = []
    for block in re.finditer(rf"{BEGIN}(?:(?!{BEGIN}).)*?{END}".encode(), text, re.DOTALL):
        for left in range(5):
            for right in range(5):
                start, end = max(0, block.start() - left), block.end() + right
                if not (text[start : block.start()] + text[block.end() : end]).strip():
                    found.append(text[:start] + text[end:])
    return found
