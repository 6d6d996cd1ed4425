"""What every editor of the registry must keep; a new one is tested by being registered."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from folder_contents import Contents, contents_of

from skill_learner.errors import InstallError
from skill_learner.events import HookEvent
from skill_learner.install import installer, settings_file
from skill_learner.install.index_text import render_index
from skill_learner.install.installer import install, installed, uninstall
from skill_learner.install.links import put_link
from skill_learner.install.markdown_block import read_block
from skill_learner.install.places import SCOPES, Scope, places_for, scopes_of
from skill_learner.install.sharing import skills_folders
from skill_learner.install.status import ScopeStatus, installation_status
from skill_learner.paths import StatePaths
from skill_learner.project import project_key
from skill_learner.targets import MARKS, TARGETS, fired_by, get_target
from skill_learner.targets.protocol import Target

CHECKOUT = Path(__file__).resolve().parents[2]
NAMES = sorted(TARGETS)
LAUNCH = ["C:/Program Files/O'Brien \u2019/python.exe", "-I", "-S", "C:/$a & b/hooks/entry.py"]


@pytest.fixture(autouse=True)
def no_compiling(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installer.launcher, "compile_hot_modules", lambda root: None)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = Path(os.path.realpath(tmp_path)) / "my project"
    folder.mkdir()
    return folder


@pytest.fixture(params=NAMES)
def target(request: pytest.FixtureRequest) -> Target:
    return get_target(request.param)


def snapshot(folder: Path) -> Contents:
    """All but the state folder, which has times in it."""
    return contents_of(folder, without=".skill_learner")


def hooks_in(entry: Any) -> list[Any]:
    hooks: list[Any] = entry.get("hooks", [entry])
    return hooks


# -- shape --------------------------------------------------------------------------------------


def test_everything_that_the_protocol_names_is_there(target: Target) -> None:
    wanted = [*Target.__annotations__, *(n for n in vars(Target) if n.islower() and n[0] != "_")]
    assert len(wanted) > 20
    assert [name for name in wanted if not hasattr(target, name)] == []


def test_the_registry_knows_it_by_its_name(target: Target) -> None:
    assert TARGETS[target.NAME] == target.__name__  # type: ignore[attr-defined]
    assert set(target.SETTINGS_FILE) <= set(SCOPES)
    assert {"project", "user"} <= set(target.SETTINGS_FILE)
    assert set(target.INDEX_FILE) <= set(target.SETTINGS_FILE)
    assert set(target.SKILLS_DIR) == {"project", "user"}
    assert set(target.RULES.values()) <= {"block", "file"}


@pytest.mark.process
def test_a_hook_imports_it_without_any_library(target: Target) -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(CHECKOUT)!r}); before = set(sys.modules)\n"
        f"import {TARGETS[target.NAME]}\nprint(*sorted(set(sys.modules) - before))"
    )
    command = [sys.executable, "-I", "-S", "-c", code]
    loaded = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert loaded == sorted(
        ["skill_learner", "skill_learner.events", "skill_learner.targets", TARGETS[target.NAME]]
    )


# -- registration -------------------------------------------------------------------------------


def test_the_registration_is_as_the_golden_file_says(target: Target) -> None:
    golden = (CHECKOUT / "hooks" / f"{target.NAME}.json").read_bytes()
    entries = {event: target.settings_entry(event) for event in target.EVENTS}
    assert json.loads(golden) == {
        **target.SETTINGS_HEAD,
        "hooks": {e: [v] for e, v in entries.items()},
    }
    assert settings_file.registration(target.NAME).encode() == golden


def test_the_registered_line_is_the_same_everywhere(
    target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = json.dumps([target.settings_entry(event) for event in target.EVENTS])
    monkeypatch.setenv("HOME", "/elsewhere")
    assert json.dumps([target.settings_entry(event) for event in target.EVENTS]) == before
    assert before.isascii()
    assert str(Path.home()) not in before.replace("${HOME", "")


def test_ours_are_told_from_others(target: Target) -> None:
    for event in target.EVENTS:
        for entry in (target.settings_entry(event), target.windows_entry(event, LAUNCH)):
            hooks = hooks_in(entry)
            assert len(hooks) == 1
            assert target.is_our_hook(hooks[0])
            others = [get_target(name) for name in NAMES if name != target.NAME]
            assert not any(other.is_our_hook(hooks[0]) for other in others)


@pytest.mark.parametrize(
    "hook",
    [
        {},
        {"command": 7},
        {"command": ""},
        {"command": "cat ~/.skill_learner/hook.sh"},
        {"command": "sh -c 'echo hook.sh'"},
        {"command": "npx other-tool hook stop", "timeout": 5},
        {"command": "python", "args": ["/srv/other/entry.py"]},
    ],
)
def test_foreign_hooks_are_foreign(target: Target, hook: dict[str, Any]) -> None:
    assert not target.is_our_hook(hook)


def test_its_own_registration_has_no_fault(target: Target) -> None:
    golden = json.loads((CHECKOUT / "hooks" / f"{target.NAME}.json").read_bytes())
    assert target.settings_faults(golden) == []
    assert target.settings_faults({}) == []


# -- events -------------------------------------------------------------------------------------


def test_any_payload_gives_an_event(target: Target) -> None:
    for event in (*target.EVENTS, "Nonsense"):
        for fields in ({}, {b"hook_event_name": b'a"b\xff'}, {b"session_id": b"s\n"}):
            found = target.read_event(event, fields, {})
            assert isinstance(found, HookEvent)
            assert found.editor == target.NAME
            assert found.name.isidentifier()


def test_any_json_becomes_canonical(target: Target) -> None:
    odd = [None, 7, "", "{", [], {}, [None], {"exitCode": "x"}, "\ud800"]
    names = ["SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "Stop"]
    keys = "tool_use_id tool_input tool_output workspace_roots status prompt session_id".split()
    for event, value in itertools.product((*names, "SessionEnd", "Other"), odd):
        told, payload = target.canonical(event, dict.fromkeys(keys, value))
        assert isinstance(told, str)
        assert isinstance(payload, dict)
        key, unique = target.event_key(event, dict.fromkeys(keys, value))
        assert isinstance(key, str)
        assert isinstance(unique, bool)


def test_replies_are_one_ascii_json_object_or_nothing(target: Target) -> None:
    assert target.start_reply("", False) == b""
    reply = target.start_reply('learned "x" \u2028 \U0001f41b\n', True)
    assert isinstance(json.loads(reply.decode("ascii")), dict)
    assert reply.count(b"\n") == 1
    for news in ("", "learned"):
        value = json.loads(target.start_reply(news, True, "- `a-skill`: ü"))
        told = value.get("hookSpecificOutput", {}).get("additionalContext")
        assert (told or value["additional_context"]).endswith("- `a-skill`: ü")
        assert news in json.dumps(value)


def test_who_fired_is_told_by_the_payload() -> None:
    for name, (field, variable) in MARKS.items():
        assert name in TARGETS
        for registered in NAMES:
            assert fired_by(registered, {field: b"1"}, {}) == name
            assert fired_by(registered, {}, {variable: b"1"}) == name
            assert fired_by(registered, {b"session_id": b"1"}, {variable: b"1"}) == registered


# -- index --------------------------------------------------------------------------------------


def test_the_index_stands_in_one_file(target: Target) -> None:
    index = render_index(["- one: first"])
    for layout in ("block", "file", "OTHER.md"):
        block, own = target.index_texts(index, layout)
        whole = [text for text in (block, own) if text and "- one: first" in text]
        if layout in target.RULES.values() or layout == "block":
            assert len(whole) == 1
            assert (whole[0] is block) == (layout == "block")
        elif target.READS_NOTES:
            assert whole == []
            assert "OTHER.md" in block
        if own is not None:
            assert target.is_own_index(own.encode(), index.encode())


# -- install ------------------------------------------------------------------------------------

FOREIGN_NOTES = [None, b"# Mine", b"\xef\xbb\xbfa\r\nb\r\n"]


def every_scope() -> Iterator[tuple[str, Scope]]:
    for name in NAMES:
        for scope in scopes_of(get_target(name)):
            yield name, scope


@pytest.mark.parametrize(("name", "scope"), list(every_scope()))
@pytest.mark.parametrize("notes", FOREIGN_NOTES)
def test_init_twice_then_uninstall_leaves_no_byte(
    name: str,
    scope: Scope,
    notes: bytes | None,
    project: Path,
    state: StatePaths,
    hermetic_home: Path,
) -> None:
    places = places_for(get_target(name), scope, project)
    root = hermetic_home if scope == "user" else project
    foreign = b'{\r\n\t"other": [1, 2.50],\r\n\t"hooks": {"stop": []}\r\n}'
    places.settings.parent.mkdir(parents=True)
    places.settings.write_bytes(foreign)
    if notes is not None and places.index:
        places.index.parent.mkdir(parents=True, exist_ok=True)
        places.index.write_bytes(notes)
    before = snapshot(root)
    install(name, scope, project, state)
    once = snapshot(root)
    assert once[str(places.settings.relative_to(root))].startswith(foreign[:30])  # type: ignore[union-attr,arg-type]
    install(name, scope, project, state)
    assert snapshot(root) == once
    uninstall(name, scope, project, state, purge=True)
    assert snapshot(root) == before


def test_settings_that_do_not_parse_are_refused(
    target: Target, project: Path, state: StatePaths
) -> None:
    places = places_for(target, "project", project)
    places.settings.parent.mkdir(parents=True)
    places.settings.write_bytes(b'{"hooks": {}, // note\n}')
    before = snapshot(project)
    with pytest.raises(InstallError, match="comments are not allowed"):
        install(target.NAME, "project", project, state)
    assert snapshot(project) == before
    assert installed(state) == []


def test_dry_run_writes_nothing(target: Target, project: Path, state: StatePaths) -> None:
    report = install(target.NAME, "project", project, state, dry_run=True)
    assert len(report.rows) >= 4
    assert snapshot(project) == {}
    assert not state.root.exists()


def test_a_scope_that_an_editor_lacks_is_refused(project: Path, state: StatePaths) -> None:
    lacking = [
        (name, scope) for name in NAMES for scope in SCOPES if (name, scope) not in every_scope()
    ]
    for name, scope in lacking:
        with pytest.raises(InstallError, match="no settings of the scope"):
            install(name, scope, project, state)


def test_uninstall_without_any_record(
    target: Target, project: Path, state: StatePaths, tmp_path: Path
) -> None:
    places = places_for(target, "project", project)
    assert places.index is not None
    places.index.write_bytes(b"# Mine\n")
    install(target.NAME, "project", project, state)
    uninstall(target.NAME, None, project, StatePaths(tmp_path / "another state"))
    left = snapshot(project)
    assert left.pop(str(places.index.relative_to(project))) == b"# Mine\n"
    assert all(content is None for content in left.values())


def status_of(state: StatePaths, project: Path, name: str) -> ScopeStatus:
    return next(
        s for s in installation_status(state, project) if (s.target, s.scope) == (name, "project")
    )


# -- several editors ----------------------------------------------------------------------------

PAIRS = list(itertools.permutations(NAMES, 2))


def prepared(project: Path, kind: str) -> None:
    """A project that is bare, or one that has files of its own of every editor."""
    (project / "README").write_text("hello\n")
    if kind == "files":
        for name in NAMES:
            places = places_for(get_target(name), "project", project)
            places.settings.parent.mkdir(parents=True, exist_ok=True)
            places.settings.write_bytes(b'{"version": 1, "hooks": {}, "mine": true}\n')
            if places.index:
                places.index.write_bytes(b"# Mine\n")
            places.skills_dir.mkdir(parents=True)
            (places.skills_dir / "own.md").write_text("own")


@pytest.mark.parametrize("kind", ["bare", "files"])
@pytest.mark.parametrize("first_out", ["same order", "other order"])
@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_two_editors_come_and_go_in_any_order(
    first: str, second: str, first_out: str, kind: str, project: Path, state: StatePaths
) -> None:
    prepared(project, kind)
    before = snapshot(project)
    install(first, "project", project, state)
    alone = snapshot(project)
    install(second, "project", project, state)
    both = snapshot(project)
    for name in (first, second):
        assert status_of(state, project, name).complete, status_of(state, project, name)
        install(name, "project", project, state)
        assert snapshot(project) == both
    if first_out == "same order":
        uninstall(first, None, project, state)
        uninstall(second, None, project, state)
    else:
        uninstall(second, None, project, state)
        assert snapshot(project) == alone
        uninstall(first, None, project, state)
    assert snapshot(project) == before
    assert installed(state) == []


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_no_editor_sees_a_skill_or_the_index_twice(
    first: str, second: str, project: Path, state: StatePaths, tmp_path: Path
) -> None:
    library = tmp_path / "library"
    (library / "a-skill").mkdir(parents=True)
    (library / "a-skill" / "SKILL.md").write_text("x")
    install(first, "project", project, state)
    folder = skills_folders([first])[0]
    put_link(project / folder, "a-skill", library / "a-skill", library)
    state.published_dir.mkdir()
    (state.published_dir / project_key(project)).write_text(f"a-skill\t{library}/a-skill\n")
    install(second, "project", project, state)
    seen = seen_by_all(project)
    uninstall(first, None, project, state)
    assert seen_by_all(project)[second] == (["a-skill", "skill-learner"], 1)
    for name in (first, second):
        assert seen[name] == (["a-skill", "skill-learner"], 1), name
    uninstall(second, None, project, state)
    assert snapshot(project) == {}


def seen_by_all(project: Path) -> dict[str, tuple[list[str], int]]:
    """For each editor the skills it lists, and how often it is shown the index."""
    found = {}
    for name in NAMES:
        target = get_target(name)
        folders = (target.SKILLS_DIR["project"], *target.READS_SKILLS)
        skills = [p.parent.name for f in folders for p in (project / f).glob("*/SKILL.md")]
        notes = [target.INDEX_FILE["project"], *target.READS_NOTES]
        texts = [(project / n).read_text() for n in notes if (project / n).is_file()]
        own = project / target.INDEX_IMPORT
        imported = any(f"@{target.INDEX_IMPORT}" in text for text in texts)
        if own.is_file() and (imported or target.RULES):
            texts.append(own.read_text())
        found[name] = (sorted(skills), sum("## Learned skills" in text for text in texts))
    return found


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_hooks_that_a_teammate_committed_without_notes_bring_no_index(
    first: str, second: str, project: Path, state: StatePaths, tmp_path: Path
) -> None:
    teammate = StatePaths(tmp_path / "teammate")
    install(first, "project", project, teammate)
    notes = places_for(get_target(first), "project", project).index
    assert notes is not None
    notes.unlink()
    install(second, "project", project, state)
    assert seen_by_all(project)[second][1] == 1


def test_a_fault_in_one_editors_files_stops_the_others_init(
    project: Path, state: StatePaths
) -> None:
    first, second = PAIRS[0]
    install(first, "project", project, state)
    notes = places_for(get_target(first), "project", project).index
    assert notes is not None
    notes.write_bytes(notes.read_bytes() + b"\n<!-- skill-learner:begin -->\n")
    before = snapshot(project)
    with pytest.raises(InstallError):
        install(second, "project", project, state)
    assert snapshot(project) == before


def test_user_wide_and_project_installs_share_a_folder(
    project: Path, state: StatePaths, hermetic_home: Path
) -> None:
    before = snapshot(project)
    for name in NAMES:
        install(name, "user", project, state)
    homes = [get_target(name).SKILLS_DIR["user"].removeprefix("~/") for name in NAMES]
    seeds = [home for home in homes if (hermetic_home / home / "skill-learner").exists()]
    assert len(seeds) == len(skills_folders(NAMES))
    for name in NAMES:
        uninstall(name, "user", project, state)
    assert snapshot(project) == before
    assert snapshot(hermetic_home) == {}


@pytest.mark.parametrize("name", [n for n in NAMES if get_target(n).RULES])
def test_the_users_choice_of_rules_is_kept(name: str, project: Path, state: StatePaths) -> None:
    target = get_target(name)
    places = places_for(target, "project", project)
    assert places.index is not None
    assert places.index_file is not None
    for rules, layout in target.RULES.items():
        install(name, "project", project, state, rules=rules)
        install(name, "project", project, state)
        block = read_block(places.index.read_bytes(), places.index) or b""
        in_block = b"## Learned" in block
        assert in_block == (layout == "block")
        assert (b"## Learned" in places.index_file.read_bytes()) != in_block
    with pytest.raises(InstallError, match="no choice of rules"):
        install(name, "project", project, state, rules="nonsense")
    uninstall(name, None, project, state)
    assert snapshot(project) == {}
