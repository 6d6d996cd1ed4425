from __future__ import annotations

import base64
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from skill_learner.config import SkillLearnerConfig
from skill_learner.errors import SkillFormatError
from skill_learner.exchange.documents import read_document
from skill_learner.models import Skill
from skill_learner.project import project_key, project_root, register
from skill_learner.wiring import build_library

Run = Callable[..., Result]
RunJson = Callable[..., Any]
Add = Callable[..., Skill]

SKILL = "---\nname: build-site\ndescription: Use when it fails.\n---\n\nDo it.\n"


def document(name: Any = "build-site", **files: Any) -> dict[str, Any]:
    content = {"SKILL.md": SKILL, **files}
    return {
        "format": "skill-learner-skills",
        "version": 1,
        "skills": [{"name": name, "state": "active", "files": content}],
    }


def test_round_trip_keeps_text_state_and_attachments(
    run: Run, run_json: RunJson, add_skill: Add, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = add_skill("build-site", body="Übersicht: first\n\n  then `x`\n")
    add_skill("maybe", "candidate")
    scripts = Path(first.path).parent / "scripts"
    scripts.mkdir()
    (scripts / "fix.sh").write_bytes(b"#!/bin/sh\r\necho \xc3\xa4\n")
    (scripts / "blob.bin").write_bytes(bytes(range(256)))
    exported = run("export", "--format", "json").stdout

    monkeypatch.setenv("SKILL_LEARNER_STATE_DIR", str(tmp_path / "other"))
    assert run_json("list", "--all") == []
    run("import", "-", stdin=exported)
    library = build_library(SkillLearnerConfig.load())
    copy = library.get("build-site")
    assert (copy.description, copy.body.strip()) == (first.description, first.body.strip())
    assert (copy.state, copy.origin) == ("active", "import")
    assert Path(copy.path).read_bytes() == Path(first.path).read_bytes()
    assert library.get("maybe").state == "candidate"
    for name in ("fix.sh", "blob.bin"):
        there = Path(copy.path).parent / "scripts" / name
        assert there.read_bytes() == (scripts / name).read_bytes()


@pytest.mark.parametrize("kind", ["json", "zip"])
def test_a_skill_file_further_down_stays_with_its_skill(
    kind: str,
    run: Run,
    run_json: RunJson,
    add_skill: Add,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = Path(add_skill("template").path).parent
    for below in (folder / "sub", folder / "sub" / "deeper"):
        below.mkdir()
        (below / "SKILL.md").write_text(SKILL)
    file = tmp_path / f"skills.{kind}"
    run("export", "--format", kind, "-o", str(file))
    monkeypatch.setenv("SKILL_LEARNER_STATE_DIR", str(tmp_path / "other"))
    run("import", str(file))
    (copy,) = run_json("list", "--all")
    there = Path(run_json("show", copy["name"])["path"]).parent
    assert (there / "sub" / "SKILL.md").read_text() == SKILL
    assert (there / "sub" / "deeper" / "SKILL.md").read_text() == SKILL


@pytest.mark.parametrize("kind", ["json", "zip"])
def test_a_skill_named_twice_is_exported_once(
    kind: str, run: Run, add_skill: Add, tmp_path: Path
) -> None:
    for name in ("one", "two"):
        add_skill(name)
    file = tmp_path / f"skills.{kind}"
    said = run("export", "two", "one", "two", "--format", kind, "-o", str(file)).stdout
    assert "2 skills" in said
    assert run("import", str(file)).stdout.count("unchanged") == 2


@pytest.mark.parametrize("place", ["attachment", "binary", "name", "front matter", "text"])
def test_a_secret_anywhere_in_a_skill_is_told_at_export(
    place: str, run: Run, add_skill: Add
) -> None:
    token = "AKIAIOSFODNN7EXAMPLQ"
    file = Path(add_skill("mine").path)
    add_skill("clean")
    if place == "attachment":
        (file.parent / "notes.txt").write_text(f"key {token}\n")
    elif place == "binary":
        (file.parent / "blob.bin").write_bytes(b"\xff\0" + token.encode() + b"\0")
    elif place == "name":
        (file.parent / f"{token}.txt").write_text("x")
    elif place == "front matter":
        text = file.read_text()
        file.write_text(text.replace("metadata:\n", f"metadata:\n  login: {token}\n", 1))
        assert token in file.read_text()
    else:
        file.write_text(file.read_text() + f"\nUse {token}.\n")
    (told,) = run("export").stderr.splitlines()
    assert told.startswith("warning: mine: ")
    assert "holds what looks like" in told
    if place in ("attachment", "binary"):
        assert {"attachment": "notes.txt", "binary": "blob.bin"}[place] in told


def test_import_twice_changes_nothing(run: Run, add_skill: Add, tmp_path: Path) -> None:
    add_skill("build-site")
    file = tmp_path / "skills.json"
    run("export", "--output", str(file))
    assert "unchanged" in run("import", str(file)).stdout


def test_import_never_overwrites(run: Run, add_skill: Add, run_json: RunJson) -> None:
    add_skill("build-site", body="Mine.\n")
    result = run("import", "-", stdin=json.dumps(document()))
    assert "kept" in result.stdout
    assert run_json("show", "build-site")["body"].strip() == "Mine."


def test_dry_run_writes_nothing(run: Run, hermetic_home: Path) -> None:
    result = run("import", "--dry-run", "-", stdin=json.dumps(document()))
    assert "would be written" in result.stdout
    assert not (hermetic_home / ".skill_learner").exists()


def test_a_key_that_stands_twice_is_told_and_never_rewritten_away(
    run: Run, run_json: RunJson, add_skill: Add
) -> None:
    """Else the next change of a skill in our form would write it anew, without one of the two."""
    ours = Path(add_skill("build-site").path).read_text(encoding="utf-8")
    doubled = ours.replace("metadata:\n", "metadata:\n  owner: ops\n  owner: web\n")
    assert doubled != ours
    twice = "line 6: key 'metadata.owner' occurs twice; the last counts, so take the other out"
    text = json.dumps(document("other-site", **{"SKILL.md": doubled.replace("build-", "other-")}))
    (told,) = json.loads(run("import", "-", "--json", stdin=text).stdout)
    assert twice in told["detail"]
    assert twice in run_json("show", "other-site")["warnings"]
    file = Path(run_json("show", "other-site")["path"])
    run("move", "other-site", "--scope", "user")
    assert file.read_text(encoding="utf-8").count("owner:") == 2


def test_user_wide_import(run: Run, run_json: RunJson) -> None:
    run("import", "--user", "-", stdin=json.dumps(document()))
    assert run_json("show", "build-site")["scope"] == "user"


ESCAPES = [
    "../evil",
    "/etc/evil",
    "a/../../evil",
    "a//b",
    "",
    ".",
    "..",
    "a\\..\\evil",
    "C:/evil",
    "a/\x00b",
]
ODD: dict[str, dict[str, Any]] = {
    "C:evil": {"C:evil": "x"},
    "run 12:30.txt": {"run 12:30.txt": "x"},
    "what?.md": {"what?.md": "x"},
    "nul": {"nul": "x"},
    "a/CON.txt": {"a/CON.txt": "x"},
    "trailing.": {"trailing.": "x"},
    "space ": {"space ": "x"},
    "x" * 300: {"a/" + "x" * 300: "x"},
    "one file somewhere": {"Notes.md": "x", "notes.md": "y"},
    "below a file": {"a": "x", "a/b": "y"},
    "of which 'big' is the largest": {
        "big": {"base64": base64.b64encode(bytes(6_000_000)).decode()}
    },
    "202 files": {f"f{number}": "" for number in range(201)},
}
"""What not every system can hold, by the words that tell of it."""


@pytest.mark.parametrize("path", ESCAPES)
def test_paths_that_escape_are_refused_whole(path: str, run: Run, hermetic_home: Path) -> None:
    harmless = document("other")["skills"][0]
    bad = document(**{path: "x"})
    bad["skills"].insert(0, harmless)
    result = run("import", "-", stdin=json.dumps(bad), code=4)
    assert "is not allowed in a skill" in result.stderr
    assert not (hermetic_home / ".skill_learner").exists()


@pytest.mark.parametrize("words", ODD)
def test_what_cannot_be_held_everywhere_costs_its_own_skill_only(
    words: str, run: Run, run_json: RunJson
) -> None:
    mixed = document("mine", **ODD[words])
    mixed["skills"].append(document("good")["skills"][0])
    result = run("import", "-", stdin=json.dumps(mixed), code=4)
    assert "1 of 2 skills were refused: skill 'mine': " in result.stderr
    assert words in result.stderr
    assert [skill["name"] for skill in run_json("list", "--all")] == ["good"]


def test_a_name_that_is_a_device_costs_its_own_skill_only(run: Run, run_json: RunJson) -> None:
    mixed = document("nul")
    mixed["skills"].append(document("good")["skills"][0])
    run("import", "-", stdin=json.dumps(mixed), code=4)
    assert [skill["name"] for skill in run_json("list", "--all")] == ["good"]


@pytest.mark.parametrize("kind", ["json", "zip"])
def test_one_odd_file_is_told_at_export_and_does_not_spoil_the_rest(
    kind: str,
    run: Run,
    run_json: RunJson,
    add_skill: Add,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    add_skill("good")
    (Path(add_skill("mine").path).parent / "run 12:30.txt").write_text("log")
    (Path(add_skill("wide").path).parent / "film.mp4").write_bytes(bytes(6 << 20))
    file = tmp_path / f"skills.{kind}"
    told = run("export", "--format", kind, "-o", str(file)).stderr.splitlines()
    assert [line.startswith("warning: ") and "import" in line for line in told] == [True, True]
    assert "mine" in told[0]
    assert "run 12:30.txt" in told[0]
    assert "wide" in told[1]
    assert "film.mp4" in told[1]

    monkeypatch.setenv("SKILL_LEARNER_STATE_DIR", str(tmp_path / "other"))
    said = run("import", str(file), code=4)
    assert "2 of 3 skills were refused" in said.stderr
    assert "film.mp4" in said.stdout
    assert [skill["name"] for skill in run_json("list", "--all")] == ["good"]


@pytest.mark.parametrize("kind", ["json", "zip"])
def test_skills_come_back_as_whose_they_were(
    kind: str,
    run: Run,
    run_json: RunJson,
    add_skill: Add,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    key = project_key(project_root(other))
    own = add_skill("here").scope
    add_skill("everywhere", scope="user")
    add_skill("there", scope=key)
    add_skill("gone", scope="unknown-0123456789abcdef")
    file = tmp_path / f"skills.{kind}"
    run("export", "--format", kind, "-o", str(file))

    monkeypatch.setenv("SKILL_LEARNER_STATE_DIR", str(tmp_path / "new home"))
    register(SkillLearnerConfig.load().paths, other)
    said = run("import", "--dry-run", str(file)).stdout
    assert "for all projects" in said
    assert f"for the project {key}" in said
    run("import", str(file))
    scopes = {skill["name"]: skill["scope"] for skill in run_json("list")}
    assert scopes == {"here": own, "everywhere": "user", "there": key, "gone": own}

    monkeypatch.setenv("SKILL_LEARNER_STATE_DIR", str(tmp_path / "third home"))
    run("import", "--user", str(file))
    assert {skill["scope"] for skill in run_json("list")} == {"user"}


@pytest.mark.parametrize("name", ["../x", "a/b", "", ".hidden", "..", 5, None])
def test_names_that_escape_are_refused(name: Any) -> None:
    with pytest.raises(SkillFormatError, match="no name for a skill"):
        read_document(document(name))


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        ([], "no skill-learner export"),
        ({"format": "other"}, "no skill-learner export"),
        ({**document(), "version": 2}, "version 2"),
        ({**document(), "skills": {}}, "must be a list"),
        ({**document(), "skills": [5]}, "expected an object"),
        (document(**{"SKILL.md": {"base64": "%%%"}}), "damaged base64"),
        (document(**{"SKILL.md": 5}), "expected text"),
        ({**document(), "skills": document()["skills"] * 2}, "more than one skill"),
    ],
)
def test_unsound_documents_are_refused(broken: Any, words: str) -> None:
    with pytest.raises(SkillFormatError, match=words):
        read_document(broken)


def test_broken_json_names_line_and_column(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "skills.json"
    file.write_text('{\n "format": nope}\n')
    assert f"{file}:2:12:" in run("import", str(file), code=4).stderr


def test_links_are_not_exported(run: Run, add_skill: Add, tmp_path: Path) -> None:
    skill = add_skill("build-site")
    (tmp_path / "secret").write_text("secret words")
    (Path(skill.path).parent / "notes.md").symlink_to(tmp_path / "secret")
    assert "secret words" not in run("export").stdout


def test_a_source_without_a_skill_says_so(run: Run, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert f"no skill in {tmp_path / 'empty'}" in run("import", str(tmp_path / "empty")).stdout


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_named_pipe_is_not_waited_for_and_the_way_of_pipes_is_told(
    run: Run, tmp_path: Path
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    told = run("import", str(pipe), code=4).stderr
    assert f"{pipe} is neither a file nor a folder" in told
    assert "| skill-learner import -" in told


def test_a_text_that_is_no_skill_yet_is_told_how_to_become_one(run: Run, tmp_path: Path) -> None:
    notes = tmp_path / "notes.md"
    notes.write_text("# Notes\n\nDo it.\n")
    told = run("import", str(notes), code=4).stderr
    assert f"{notes}: neither a zip archive, a JSON export nor a SKILL.md" in told
    assert "SKILL.md in a folder of the skill's name" in told
    notes.write_text(" \n")
    assert f"{notes}: is empty" in run("import", str(notes), code=4).stderr
    notes.write_bytes("{}".encode("utf-16"))
    assert "no skill-learner export" in run("import", str(notes), code=4).stderr


def test_what_is_no_export_is_not_called_bad_json(run: Run, tmp_path: Path) -> None:
    archive = tmp_path / "skills.tgz"
    archive.write_bytes(b"\x1f\x8b\x08\x00")
    assert (
        "neither a zip archive, a JSON export nor a SKILL.md"
        in run("import", str(archive), code=4).stderr
    )
