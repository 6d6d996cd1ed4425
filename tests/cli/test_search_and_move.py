from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from skill_learner.project import project_key


def test_search_explains_words_fields_and_score(run: Any, run_json: Any, add_skill: Any) -> None:
    add_skill("docker-cache", description="Use when docker build ignores the layer cache")
    add_skill("other-thing", description="Use when a grid overflows")
    text = run("search", "--explain", "docker build without layer cache").stdout
    assert "docker-cache: score" in text
    assert "name: docker, cache" in text
    assert "offered with a prompt" in text
    (row,) = run_json("search", "--explain", "docker build without layer cache")
    assert row["strength"] > row["threshold"]
    assert set(row["matched"]["description"]) == {"docker", "build", "layer", "cache"}
    assert row["signals"]["together"] > 0


def test_words_are_explained_as_they_were_found(run_json: Any, add_skill: Any) -> None:
    add_skill("roll-back", description="Use when a query of deployed revisions fails")
    (row,) = run_json("search", "--explain", "queries once we deploy a revision")
    assert set(row["matched"]["description"]) == {"queries", "deploy", "revision"}


def test_move_changes_whose_a_skill_is(
    run: Any, run_json: Any, add_skill: Any, project: Any
) -> None:
    add_skill("docker-cache")
    assert "moved from" in run("move", "docker-cache", "--scope", "user").stdout
    (row,) = run_json("list")
    assert row["scope"] == "user"
    assert "already" in run("move", "docker-cache", "--scope", "user").stdout
    run("move", "docker-cache", "--scope", "project")
    (row,) = run_json("list")
    assert row["scope"] == project_key(project.resolve())
    assert "no skill" in run("move", "nowhere", "--scope", "user", code=4).output


@pytest.mark.parametrize("named", [("docker-cache",), ()])
def test_a_move_that_is_undone_leaves_nothing_in_other_projects(
    run: Any, add_skill: Any, tmp_path: Path, named: tuple[str, ...]
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    run("init", "--target", "claude-code", "--project-dir", str(other))
    run("init", "--target", "claude-code")
    add_skill("docker-cache")
    link, index = other / ".claude" / "skills" / "docker-cache", other / "CLAUDE.md"
    run("move", "docker-cache", "--scope", "user")
    assert link.is_symlink()
    assert "docker-cache" in index.read_text()
    run("undo", *named)
    assert not link.is_symlink()
    assert "docker-cache" not in index.read_text()
    assert Path(".claude/skills/docker-cache").is_symlink()


def test_status_tells_the_listing(run: Any, run_json: Any, add_skill: Any) -> None:
    for number in range(30):
        add_skill(f"lesson-{number}", description=f"Use when service {number} fails its check-up")
    of_project, of_user = run_json("status")["listing"]
    assert of_project["taken"] <= of_project["room"] == 1_000
    assert len(of_project["listed"]) + len(of_project["left_out"]) == 30
    assert of_user["listed"] == []
    text = run("status").stdout
    assert "editor's listing, skills of this project" in text
    assert f"in: {of_project['listed'][0]['name']}, " in text
    assert "out: lesson-" in text


def test_remember_warns_of_a_description_that_does_not_trigger(run: Any) -> None:
    assert "may not trigger" in run("remember", "The staging key is rotated on Mondays").output
