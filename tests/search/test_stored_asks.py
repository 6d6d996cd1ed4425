"""What humans asked when a skill was learned or loaded is kept with it, and finds it again."""

from __future__ import annotations

from pathlib import Path

import pytest

from skill_learner.models import CreateSkill
from skill_learner.search import SkillSearch
from skill_learner.skills.encounters import LONGEST_ASK, MOST_ASKS, EncounterStore, kept_asks
from skill_learner.skills.library import SkillLibrary
from skill_learner.storage import BACKENDS, open_index


@pytest.fixture
def library(tmp_path: Path) -> SkillLibrary:
    library = SkillLibrary(tmp_path / "skills")
    for name, description in [
        ("pg-lock", "Use when a Postgres migration hangs"),
        ("docker-cache", "Use when docker build ignores the layer cache"),
        ("css-grid", "Use when a grid overflows its parent"),
    ]:
        library.create(
            CreateSkill(name, description, "Body.\n", ()),
            state="active",
            scope="user",
            project_slug="p",
            origin="offline",
            session="s",
        )
    return library


def test_asks_that_say_nothing_or_the_same_are_not_kept() -> None:
    asks = [
        "Why does the nightly   rollout stall?",
        "why does the nightly rollout stall",
        "ok",
        "x" * 5,
        "Invoices are missing from the export",
        "word " * 500,
    ]
    kept = kept_asks(asks)
    assert kept[0] == "Why does the nightly rollout stall?"
    assert "Invoices are missing from the export" in kept
    assert "ok" not in kept
    assert len([ask for ask in kept if "nightly" in ask]) == 1
    assert max(map(len, kept)) <= LONGEST_ASK


def test_of_too_many_the_newest_and_the_most_different_stay() -> None:
    alike = [f"deploy the billing service to region {word}" for word in "abcdefgh"]
    different = ["translate the handbook into French", "profile memory of the parser"]
    kept = kept_asks([*alike[:4], *different, *alike[4:], "why is the queue stuck today"])
    assert len(kept) <= MOST_ASKS
    assert kept[0] == alike[0]
    assert set(different) <= set(kept)


def test_encounters_last_and_a_damaged_file_is_none(tmp_path: Path) -> None:
    store = EncounterStore(tmp_path / "met")
    assert store.add("a", ["stalled nightly rollout"], [("undefined:", "logger is missing")])
    assert not store.add("a", ["stalled nightly rollout"])
    assert store.of("a").asks == ("stalled nightly rollout",)
    assert store.of("a").errors == (("undefined:", "logger is missing"),)
    store.path("a").write_text('{"asks": 3')
    assert store.of("a").asks == ()


@pytest.mark.parametrize("backend", sorted(BACKENDS))
def test_a_skill_is_found_by_what_was_asked_before(
    backend: str, library: SkillLibrary, tmp_path: Path
) -> None:
    search = SkillSearch(library, open_index(backend, tmp_path / "index.sqlite"))
    question = "the nightly rollout stalls again"
    assert search.search(question) == []
    assert library.encounters.add("pg-lock", ["our nightly rollout stalls at the schema step"])
    hits = search.search(question)
    assert [hit.skill.name for hit in hits] == ["pg-lock"]
    assert hits[0].skill.asks == ("our nightly rollout stalls at the schema step",)
    assert {"nightly", "rollout"} <= set(hits[0].matched["asks"])
    assert hits[0].signals["ask"] > 0
    search.close()


@pytest.mark.parametrize("backend", sorted(BACKENDS))
def test_a_slip_in_a_name_is_no_hindrance(
    backend: str, library: SkillLibrary, tmp_path: Path
) -> None:
    search = SkillSearch(library, open_index(backend, tmp_path / "index.sqlite"))
    for slip in ("dcoker", "dockr", "dockerr", "docket"):
        assert [hit.skill.name for hit in search.search(slip)] == ["docker-cache"], slip
    assert search.search("rocker") == []
    search.close()
