"""What of the library a project's editor is shown, beside what its user put there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from skill_learner.cli.group import cli
from skill_learner.config import SkillLearnerConfig
from skill_learner.listing import entry_size
from skill_learner.models import CreateSkill
from skill_learner.project import project_key
from skill_learner.targets import claude_code
from skill_learner.usage import UsageStore
from skill_learner.wiring import build_library, build_publisher

Home = Callable[..., Any]


class Place:
    """Two projects of one user, both with Claude Code."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.chdir = monkeypatch.chdir
        self.one, self.two = root / "one", root / "two"
        for project in (self.one, self.two):
            (project / ".git").mkdir(parents=True)
            self.run(project, "init", "--target", "claude-code")
        self.config = SkillLearnerConfig.load(self.one)
        self.library = build_library(self.config)

    def run(self, project: Path, *arguments: str) -> str:
        self.chdir(project)
        result = CliRunner().invoke(cli, arguments)
        assert result.exit_code == 0, result.output
        return result.output

    def add(self, name: str, description: str = "", scope: str = "user") -> None:
        self.library.create(
            CreateSkill(name, description or f"Use when {name} is asked for", "Do it.\n", ()),
            state="active",
            scope=scope,
            project_slug="p",
            origin="offline",
            session="s",
        )

    def publish(self) -> None:
        build_publisher(self.config)("", "user")

    def linked(self, project: Path) -> list[str]:
        folder = project / ".claude" / "skills"
        return sorted(path.name for path in folder.iterdir() if path.is_symlink())

    def own_skill(self, folder: Path, name: str, text: str) -> None:
        file = folder / ".claude" / "skills" / name / "SKILL.md"
        file.parent.mkdir(parents=True)
        file.write_text(text)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    return Place(tmp_path, monkeypatch)


def test_a_skill_for_all_projects_is_shown_in_each(place: Place) -> None:
    place.add("everywhere")
    place.add("only-here", scope=project_key(place.one))
    place.publish()
    assert place.linked(place.one) == ["everywhere", "only-here"]
    assert place.linked(place.two) == ["everywhere"]
    index = (place.one / "CLAUDE.md").read_text()
    assert index.index("- only-here:") < index.index("- everywhere:")


def test_with_an_install_for_the_user_it_is_shown_once(place: Place, hermetic_home: Path) -> None:
    place.add("everywhere")
    place.publish()
    place.run(place.one, "init", "--target", "claude-code", "--user")
    assert place.linked(place.one) == place.linked(place.two) == []
    assert place.linked(hermetic_home) == ["everywhere"]
    assert "- everywhere:" not in (place.one / "CLAUDE.md").read_text()


def test_move_takes_it_from_the_others_and_gives_it_back(place: Place) -> None:
    place.add("a-lesson")
    place.publish()
    place.run(place.two, "move", "a-lesson", "--scope", "project")
    assert (place.linked(place.one), place.linked(place.two)) == ([], ["a-lesson"])
    place.run(place.two, "move", "a-lesson", "--scope", "user")
    assert (place.linked(place.one), place.linked(place.two)) == (["a-lesson"], ["a-lesson"])


def files_of(*folders: Path) -> dict[Path, tuple[int, int]]:
    every = (path for folder in folders for path in folder.rglob("*") if path.is_file())
    return {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in every}


def test_a_change_for_all_projects_writes_only_where_something_changes(place: Place) -> None:
    place.add("everywhere")
    place.publish()
    paths = place.config.paths
    kept = (place.one, place.two, paths.published_dir, paths.root / "projects")
    before = files_of(*kept)
    place.publish()
    assert files_of(*kept) == before

    place.add("a-second")
    place.publish()
    assert place.linked(place.one) == place.linked(place.two) == ["a-second", "everywhere"]
    assert "- a-second:" in (place.two / "CLAUDE.md").read_text()
    assert files_of(kept[-1]).items() <= before.items()  # when a project was last seen stays


@pytest.mark.parametrize("damage", ["link", "block"])
def test_what_was_taken_from_one_project_comes_back(place: Place, damage: str) -> None:
    place.add("everywhere")
    place.publish()
    notes = place.one / "CLAUDE.md"
    whole = notes.read_text()
    if damage == "link":
        (place.one / ".claude" / "skills" / "everywhere").unlink()
    else:
        notes.write_text(whole.replace("- everywhere:", "- nowhere:"))
    before = files_of(place.two)
    place.publish()
    assert place.linked(place.one) == ["everywhere"]
    assert notes.read_text() == whole
    assert files_of(place.two) == before


def test_an_editor_that_comes_for_the_user_finds_the_links_of_each_project(place: Place) -> None:
    place.add("only-here", scope=project_key(place.one))
    place.add("everywhere")
    place.publish()
    place.run(place.one, "init", "--target", "codex", "--user")
    for project, names in ((place.one, ["everywhere", "only-here"]), (place.two, ["everywhere"])):
        assert place.linked(project) == names
        folder = project / ".agents" / "skills"
        assert sorted(p.name for p in folder.iterdir() if p.is_symlink()) == names


def test_the_users_own_skills_take_their_part_of_the_room(
    place: Place, hermetic_home: Path
) -> None:
    described = "Use when the user asks for " + "a report, " * 30
    place.own_skill(hermetic_home, "mine", f"---\nname: mine\ndescription: {described}\n---\nDo.\n")
    place.own_skill(place.one, "no-front-matter", "Just a first line\n" + "and more " * 20)
    hidden = "---\nname: hidden\ndescription: x\ndisable-model-invocation: true\n---\nDo.\n"
    place.own_skill(place.one, "hidden", hidden)
    taken = entry_size("mine", described)
    first = entry_size("no-front-matter", "Just a first line " + "and more " * 20)
    for number in range(40):
        place.add(f"lesson-{number:02}", f"Use when service {number} of the fleet fails")
    place.publish()
    for project, others in ((place.one, taken + first), (place.two, taken)):
        told = place.run(project, "status")
        room = claude_code.LISTING_ROOM - others
        assert f"of {room:,} characters beside {others:,} of your own skills" in told
        size = entry_size("lesson-00", "Use when service 0 of the fleet fails")
        assert len(place.linked(project)) * size <= room
    assert len(place.linked(place.one)) < len(place.linked(place.two))


def test_own_skills_that_fill_the_room_leave_the_learned_ones_to_search(place: Place) -> None:
    described = "Use when " + "x" * 1_400
    place.own_skill(place.one, "mine", f"---\nname: mine\ndescription: {described}\n---\nDo.\n")
    place.add("a-lesson")
    place.publish()
    assert place.linked(place.one) == []
    assert "- a-lesson:" in (place.one / "CLAUDE.md").read_text()
    assert "out: a-lesson: needs" in place.run(place.one, "status")


def test_what_nobody_takes_leaves_listing_and_offers_until_it_is_used(place: Place) -> None:
    place.add("pg-lock", "Use when a Postgres migration hangs on a lock")
    folder = place.config.paths.offered_dir
    folder.mkdir()
    for session in range(5):
        (folder / f"s{session}").write_text("100\tprompt\tpg-lock\n")
    store = UsageStore(place.config.paths.usage_db)
    store.harvest_offers(folder)
    place.publish()
    assert place.linked(place.one) == []
    declined = place.config.paths.published_dir / "declined"
    assert declined.read_text() == "pg-lock\n"
    told = place.run(place.one, "search", "--explain", "postgres migration hangs on a lock")
    assert "offered 5 times and never loaded, so no more with a prompt" in told
    store.note(["pg-lock"], "another-session", 200.0)
    place.publish()
    assert place.linked(place.one) == ["pg-lock"]
    assert not declined.exists()
