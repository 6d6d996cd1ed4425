"""Settings and notes as users have them: init, init again, an upgrade, uninstall. What is not ours
stays byte for byte, or the command refuses and writes nothing."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skill_learner.errors import InstallError
from skill_learner.install.installer import install, uninstall
from skill_learner.paths import StatePaths
from skill_learner.targets import TARGETS, get_target

OTHER = '{"type": "command", "command": "other-tool hook \\"$X\\" \\\\d"}'
GROUPS = f'{{"matcher": "Bash|Edit", "hooks": [{OTHER}]}}, {{"hooks": [{OTHER}, {OTHER}]}}'
OURS = 'h=\\"${HOME:-}/.skill_learner/hook.sh\\"; [ -r \\"$h\\" ] || exit 0; '
OURS += 'set -- claude-code Stop; . \\"$h\\"'
OLDER = OURS.replace("[ -r", "[ -e").replace("|| exit 0", "|| exit 0; V=0")


def ours(command: str, more: str = "") -> str:
    return f'{{"hooks": [{{"type": "command", "command": "{command}"{more}}}]}}'


# What an editor reads as JSON: kept to the byte around our entries.
SETTINGS: dict[str, str] = {
    "empty object": "{}",
    "empty object and spaces": " { \n } \n\n",
    "no final newline": '{"model": "opus"}',
    "many final newlines": '{"model": "opus"}\n\n\n',
    "tabs": '{\n\t"model": "opus",\n\t"permissions": {\n\t\t"allow": ["Bash(ls:*)"]\n\t}\n}\n',
    "three spaces": '{\n   "model": "opus",\n   "env": {"A": "b"}\n}\n',
    "crlf": '{\r\n  "model": "opus",\r\n  "hooks": {}\r\n}\r\n',
    "lone cr": '{\r  "model": "opus"\r}\r',
    "bom": '\ufeff{\n  "model": "opus"\n}\n',
    "one line with hooks": f'{{"hooks":{{"Stop":[{GROUPS}]}},"model":"opus"}}',
    "minified": '{"a":1,"hooks":{"PreToolUse":[]},"b":[1,2,{"c":null}]}',
    "other events": f'{{"hooks": {{"PreToolUse": [{GROUPS}], "Notification": [{GROUPS}]}}}}',
    "our events of others": f'{{"hooks": {{"Stop": [{GROUPS}], "SessionEnd": [{GROUPS}]}}}}',
    "events from the future": f'{{"hooks": {{"BrandNewEvent": [{GROUPS}]}}}}',
    "odd numbers": '{"a": 1.50, "b": 1e3, "c": -0, "d": 12345678901234567890123, "e": 1E+2}',
    "escapes": '{"a": "\\u00e9\\/\\ud83d\\ude00", "b": "é/😀", "c": "\\u0000"}',
    "keys that look like ours": '{"hooks": {"Stop": []}, "skill-learner": 1, "hooks2": {}}',
    "hooks nested elsewhere": '{"projects": {"hooks": {"Stop": [1]}}, "x": {"Stop": "y"}}',
    "empty lists": '{"hooks": {"Stop": [], "SessionStart": [ ], "UserPromptSubmit": [\n]}}',
    "entries of every shape": f'{{"hooks": {{"Stop": [{GROUPS}, {{"hooks": []}}, {{}}]}}}}',
    "a wrapper around our line": '{"hooks": {"Stop": [' + ours(f"time {OURS}") + "]}}",
    "a mention of our launcher": '{"hooks": {"Stop": ['
    + ours("ls ~/.skill_learner/hook.sh")
    + "]}}",
    "two megabytes": '{"big": "' + "x" * 2_000_000 + '", "model": "opus"}',
    "deep": '{"a": ' + "[" * 60 + "]" * 60 + "}",
    "very deep string": '{"a": "' + "[{" * 5_000 + '"}',
}
# Not strict JSON, or of a shape that nobody can add to: refused, file untouched.
REFUSED: dict[str, str] = {
    "line comment": '{\n  // mine\n  "model": "opus"\n}\n',
    "block comment": '{"model": /* mine */ "opus"}',
    "trailing comma": '{"model": "opus",}',
    "trailing comma in a list": '{"hooks": {"Stop": [1,]}}',
    "cut": '{"model": "opus", "hooks": {"St',
    "two documents": '{"a": 1}\n{"b": 2}\n',
    "single quotes": "{'a': 1}",
    "unquoted key": "{a: 1}",
    "NaN": '{"a": NaN}',
    "duplicate hooks": '{"hooks": {}, "hooks": {"Stop": []}}',
    "duplicate event": '{"hooks": {"Stop": [], "Stop": [1]}}',
    "a list": "[1, 2]",
    "a string": '"settings"',
    "null": "null",
    "hooks a list": '{"hooks": []}',
    "hooks null": '{"hooks": null}',
    "event an object": '{"hooks": {"Stop": {"a": 1}}}',
    "control character in a string": '{"a": "b\tc"}',
    "text": "model: opus\n",
    "conflict": '<<<<<<< HEAD\n{"a": 1}\n=======\n{"a": 2}\n>>>>>>> x\n',
    "too deep": '{"a": ' + "[" * 100_000 + "]" * 100_000 + "}",
}
NOTES: dict[str, str] = {
    "empty": "",
    "only newlines": "\n\n\n",
    "no final newline": "# Rules\n\nBe kind.",
    "crlf": "# Rules\r\n\r\nBe kind.\r\n",
    "mixed ends": "# Rules\r\nBe kind.\nAnd brief.\r\n",
    "bom": "\ufeff# Rules\n",
    "markers in a fence": "```\n<!-- skill-learner:begin -->\nx\n<!-- skill-learner:end -->\n```\n",
    "markers in a longer fence": "````md\n```\n<!-- skill-learner:begin -->\n```\n````\n",
    "markers in a tilde fence": "~~~\n<!-- skill-learner:end -->\n~~~\n",
    "markers indented as code": "Text\n\n    <!-- skill-learner:begin -->\n",
    "markers in a sentence": "We use <!-- skill-learner:begin --> here and `skill-learner:end`.\n",
    "another tool's block": "<!-- other:begin -->\nx\n<!-- other:end -->\n",
    "front matter": "---\nname: x\n---\n# Rules\n",
    "html": "<details>\n<summary>x</summary>\n</details>\n",
    "imports": "@docs/a.md\n@./AGENTS.md\n",
    "open comment": "<!-- not closed\n",
    "null-like": "\x0c\x0b text \u2028 more\n",
    "very long line": "x" * 500_000 + "\n",
    "only spaces": "   ",
}
REFUSED_NOTES: dict[str, str] = {
    "begin only": "# A\n<!-- skill-learner:begin -->\nb\n",
    "end only": "# A\n<!-- skill-learner:end -->\n",
    "reversed": "<!-- skill-learner:end -->\n<!-- skill-learner:begin -->\n",
    "twice": "<!-- skill-learner:begin -->\n<!-- skill-learner:end -->\n" * 2,
    "two begins": "<!-- skill-learner:begin -->\n" * 2 + "<!-- skill-learner:end -->\n",
    "open fence": "# A\n```\ncode without an end\n",
    "utf-16": "\ufffe#",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "projéct"
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    return folder.resolve()


@pytest.fixture
def state(tmp_path: Path) -> StatePaths:
    return StatePaths(Path(os.environ["HOME"]) / ".skill_learner")


def files_in(project: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(project)): path.read_bytes()
        for path in sorted(project.rglob("*"))
        if path.is_file() and ".git/" not in f"{path.relative_to(project)}/"
    }


def put(path: Path, text: str) -> bytes:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    return path.read_bytes()


def foreign(value: Any, is_ours: Callable[[Any], bool]) -> Any:
    """A settings value without the groups of ours and what falls empty by that."""
    if not isinstance(value, dict) or not isinstance(value.get("hooks"), dict):
        return value
    hooks = {
        event: [group for group in groups if not _is_group_of_ours(group, is_ours)]
        for event, groups in value["hooks"].items()
    }
    return {**value, "hooks": hooks}


def _is_group_of_ours(group: Any, is_ours: Callable[[Any], bool]) -> bool:
    hooks = group.get("hooks", [group]) if isinstance(group, dict) else []
    return bool(hooks) and all(isinstance(hook, dict) and is_ours(hook) for hook in hooks)


@pytest.mark.parametrize("target", sorted(TARGETS))
@pytest.mark.parametrize("kind", SETTINGS)
def test_settings_of_others_come_through_init_and_uninstall(
    kind: str, target: str, project: Path, state: StatePaths
) -> None:
    module = get_target(target)
    settings = project / module.SETTINGS_FILE["project"]
    before = put(
        settings, SETTINGS[kind].replace('"Stop"', '"stop"' if target == "cursor" else '"Stop"')
    )
    had = json.loads(before.decode("utf-8-sig"))
    try:
        install(target, "project", project, state)
    except InstallError:
        # an editor that would void the whole file for what stands in it already
        assert target != "claude-code"
        assert settings.read_bytes() == before
        return
    after = settings.read_bytes()
    now = json.loads(after.decode("utf-8-sig"))
    assert set(module.EVENTS) <= set(now["hooks"])
    left = foreign(now, module.is_our_hook)
    for key, value in had.items():
        if key != "hooks":
            assert left[key] == value
    for event, groups in had.get("hooks", {}).items():
        assert left["hooks"][event] == groups
    install(target, "project", project, state)
    assert settings.read_bytes() == after
    uninstall(target, None, project, state)
    assert settings.read_bytes() == before
    assert files_in(project) == {str(settings.relative_to(project)): before}


@pytest.mark.parametrize("target", sorted(TARGETS))
@pytest.mark.parametrize("kind", REFUSED)
def test_settings_that_cannot_be_added_to_are_refused_and_nothing_is_written(
    kind: str, target: str, project: Path, state: StatePaths
) -> None:
    settings = project / get_target(target).SETTINGS_FILE["project"]
    put(settings, REFUSED[kind].replace("Stop", "stop" if target == "cursor" else "Stop"))
    before = files_in(project)
    with pytest.raises(InstallError) as refusal:
        install(target, "project", project, state)
    assert str(settings) in refusal.value.message
    assert refusal.value.hint
    assert files_in(project) == before
    assert not state.root.exists()


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("line", [OURS, OLDER])
def test_entries_of_ours_from_other_versions_become_one(
    line: str, count: int, project: Path, state: StatePaths
) -> None:
    settings = project / ".claude" / "settings.json"
    groups = ", ".join([GROUPS, *[ours(line, ', "timeout": 5')] * count])
    put(settings, f'{{"hooks": {{"Stop": [{groups}], "PreToolUse": [{ours(line)}]}}}}')
    install("claude-code", "project", project, state)
    value = json.loads(settings.read_bytes())
    module = get_target("claude-code")
    mine = [
        group for group in value["hooks"]["Stop"] if _is_group_of_ours(group, module.is_our_hook)
    ]
    assert mine == [module.settings_entry("Stop")]
    assert foreign(value, module.is_our_hook)["hooks"]["Stop"] == json.loads(f"[{GROUPS}]")
    assert "PreToolUse" not in value["hooks"]
    uninstall("claude-code", None, project, state)
    assert ".skill_learner" not in settings.read_text()


@pytest.mark.parametrize("target", ["claude-code", "cursor"])
@pytest.mark.parametrize("kind", NOTES)
def test_notes_of_others_come_through_init_and_uninstall(
    kind: str, target: str, project: Path, state: StatePaths
) -> None:
    notes = project / get_target(target).INDEX_FILE["project"]
    before = put(notes, NOTES[kind])
    install(target, "project", project, state)
    after = notes.read_bytes()
    assert after.startswith(before.rstrip(b"\n")[: len(before)])
    assert after != before
    install(target, "project", project, state)
    assert notes.read_bytes() == after
    uninstall(target, None, project, state)
    assert files_in(project) == {notes.name: before}


@pytest.mark.parametrize("kind", REFUSED_NOTES)
def test_notes_that_cannot_be_added_to_are_refused_and_nothing_is_written(
    kind: str, project: Path, state: StatePaths
) -> None:
    notes = project / "CLAUDE.md"
    if kind == "utf-16":
        notes.write_bytes("# Rules\n".encode("utf-16"))
    else:
        put(notes, REFUSED_NOTES[kind])
    before = files_in(project)
    with pytest.raises(InstallError) as refusal:
        install("claude-code", "project", project, state)
    assert str(notes) in refusal.value.message
    assert files_in(project) == before


def test_linked_settings_and_notes_keep_their_links(project: Path, state: StatePaths) -> None:
    (project / "AGENTS.md").write_text("# Agents\n")
    (project / "CLAUDE.md").symlink_to("AGENTS.md")
    (project / "dot").mkdir()
    (project / "dot" / "s.json").write_text('{"model": "opus"}')
    (project / ".claude").mkdir()
    (project / ".claude" / "settings.json").symlink_to("../dot/s.json")
    install("claude-code", "project", project, state)
    assert (project / "CLAUDE.md").is_symlink()
    assert (project / ".claude" / "settings.json").is_symlink()
    assert "skill-learner" in (project / "AGENTS.md").read_text()
    uninstall("claude-code", None, project, state)
    assert (project / "AGENTS.md").read_text() == "# Agents\n"
    assert (project / "dot" / "s.json").read_text() == '{"model": "opus"}'
    assert os.readlink(project / "CLAUDE.md") == "AGENTS.md"


def test_a_linked_file_that_holds_nothing_but_ours_is_emptied_behind_its_link(
    project: Path, state: StatePaths
) -> None:
    put(project / "AGENTS.md", "<!-- skill-learner:begin -->\nx\n<!-- skill-learner:end -->\n")
    (project / "CLAUDE.md").symlink_to("AGENTS.md")
    install("claude-code", "project", project, state)
    uninstall("claude-code", None, project, state)
    assert os.readlink(project / "CLAUDE.md") == "AGENTS.md"
    assert (project / "AGENTS.md").read_bytes() == b""


@pytest.mark.parametrize("where", ["CLAUDE.md", ".claude/settings.json", ".claude"])
def test_links_out_of_the_project_are_not_followed(
    where: str, project: Path, state: StatePaths, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    if where == ".claude":
        outside.mkdir()
    else:
        outside.write_text("{}")
        (project / where).parent.mkdir(exist_ok=True)
    (project / where).symlink_to(outside)
    with pytest.raises(InstallError, match="leads out of the project"):
        install("claude-code", "project", project, state)
    assert outside.is_dir() or outside.read_text() == "{}"
    assert not outside.is_dir() or list(outside.iterdir()) == []


def test_modes_of_the_users_files_stay(project: Path, state: StatePaths) -> None:
    settings = project / ".claude" / "settings.json"
    put(settings, "{}")
    settings.chmod(0o640)
    install("claude-code", "project", project, state)
    assert settings.stat().st_mode & 0o777 == 0o640
    uninstall("claude-code", None, project, state)
    assert settings.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize(
    "description",
    [
        "<!-- skill-learner:end -->",
        "text\n<!-- skill-learner:end -->\n# Mine now",
        "```\nopen fence",
        "@/etc/passwd @~/.ssh/id",
        "<!-- open comment",
        "# heading\n- item",
        "| table | x |",
        "\u202etxet",
    ],
)
def test_texts_of_skills_cannot_leave_the_block(
    description: str, project: Path, state: StatePaths
) -> None:
    from skill_learner.models import CreateSkill
    from skill_learner.project import project_key
    from skill_learner.publish.publisher import publish
    from skill_learner.skills.library import SkillLibrary

    notes = project / "CLAUDE.md"
    before = put(notes, "# Mine\n")
    install("claude-code", "project", project, state)
    library = SkillLibrary(state.root / "skills")
    draft = CreateSkill("fix-build", f"Use when {description}", "Do it.\n", ())
    place = {"scope": project_key(project), "project_slug": "p", "origin": "x", "session": "s"}
    skill = library.create(draft, state="active", **place)
    publish(project, [skill], state, token_budget=1_500)
    text = notes.read_text()
    assert "fix-build" in text
    assert text.count("<!-- skill-learner:end -->") == 1
    publish(project, [], state, token_budget=1_500)
    uninstall("claude-code", None, project, state)
    assert notes.read_bytes() == before
