"""Which skills the editor lists, which stay to be searched for, and why."""

from __future__ import annotations

from pathlib import Path

import pytest

from skill_learner.learning.descriptions import description_faults
from skill_learner.listing import (
    Listing,
    choose_listing,
    declined_offers,
    entry_size,
    project_traits,
    usefulness_for,
)
from skill_learner.models import Skill
from skill_learner.paths import StatePaths
from skill_learner.publish.error_hints import write_error_hints
from skill_learner.publish.index import build_index
from skill_learner.usage import OfferCount, SkillUse, UsageStore

NOW = 1_800_000_000.0


def skill(name: str, description: str = "Use when it fits", scope: str = "p-1") -> Skill:
    return Skill(name, description, "b", "active", scope, f"/x/{name}/SKILL.md", "h", True)


def chosen(skills: list[Skill], room: int, **known: dict[str, object]) -> Listing:
    uses, offers = known.get("uses", {}), known.get("offers", {})
    useful = usefulness_for(uses, offers, now=NOW)  # type: ignore[arg-type]
    declined = declined_offers(offers, uses)  # type: ignore[arg-type]
    return choose_listing(skills, room, useful, declined)


def test_the_room_is_never_exceeded_and_nothing_is_lost() -> None:
    skills = [skill(f"s{n:03}", "Use when " + "x" * (n % 90)) for n in range(300)]
    listing = chosen(skills, 1_000)
    sizes = [entry_size(s.name, s.description) for s in listing.listed]
    assert sum(sizes) == listing.taken <= 1_000
    assert {s.name for s in listing.skills} == {s.name for s in skills}
    assert min(entry_size(s.name, s.description) for s, _ in listing.left_out) > (
        1_000 - listing.taken
    )
    assert all(why for _, why in listing.left_out)


def test_uses_count_recent_ones_most() -> None:
    uses = {
        "old": SkillUse(3, NOW - 400 * 86_400, 3),
        "new": SkillUse(3, NOW - 86_400, 3),
        "once": SkillUse(1, NOW - 500 * 86_400, 1),
    }
    skills = [skill(name) for name in ("a", "once", "old", "new")]
    assert [s.name for s in chosen(skills, 10_000, uses=uses).listed] == ["new", "old", "once", "a"]


def test_what_is_offered_often_and_never_loaded_loses_its_place() -> None:
    offers = {"a": OfferCount(offered=6), "b": OfferCount(6, taken=1), "c": OfferCount(6)}
    uses = {"c": SkillUse(1, NOW, 1)}
    skills = [skill("a"), skill("b"), skill("c")]
    listing = chosen(skills, 10_000, offers=offers, uses=uses)
    assert [s.name for s in listing.listed] == ["c", "b"]
    assert "never loaded" in listing.left_out[0][1]


def test_outcomes_move_skills_up_and_down() -> None:
    offers = {"good": OfferCount(helped=3), "bad": OfferCount(failed=3)}
    skills = [skill(name) for name in ("bad", "middle", "good")]
    names = [s.name for s in chosen(skills, 10_000, offers=offers).listed]
    assert names == ["good", "middle", "bad"]


def test_a_description_that_would_be_cut_is_not_listed() -> None:
    listing = chosen([skill("a", "Use when " + "x" * 1600)], 10_000)
    assert listing.listed == ()
    assert "longer" in listing.left_out[0][1]


def test_user_wide_skills_that_fit_the_project_come_first(tmp_path: Path) -> None:
    (tmp_path / "Cargo.toml").write_text("")
    traits = project_traits(tmp_path)
    skills = [
        skill("a-python", "Use when pip fails", "user"),
        skill("b-rust", "Use when cargo build fails", "user"),
    ]
    useful = usefulness_for({}, {}, traits)
    assert [s.name for s in choose_listing(skills, 999, useful).listed] == ["b-rust", "a-python"]
    assert project_traits(tmp_path / "nowhere") == frozenset()


def test_the_index_tells_how_to_read_what_the_editor_does_not_list() -> None:
    text = build_index([skill("in"), skill("out")], 1_500, listed={"in"})
    assert "- in: Use when it fits\n" in text
    assert "- out: Use when it fits (`skill-learner show out`)" in text


def test_error_hints_are_lines_and_gone_when_there_are_none(tmp_path: Path) -> None:
    paths = StatePaths(tmp_path)
    write_error_hints(paths, "k", {"a": ("Use\nwhen", [("one two", "three\tfour")]), "b": ("", [])})
    target = tmp_path / "published" / "k.errors"
    assert target.read_text() == "a\tUse when\tone two\x1fthree four\n"
    write_error_hints(paths, "k", {})
    assert not target.exists()


def test_offers_and_outcomes_are_counted_once(tmp_path: Path) -> None:
    folder = tmp_path / "offered"
    folder.mkdir()
    (folder / "s1").write_text("100\tprompt\ta\n101\tfailure\tb\nbroken\n")
    (folder / "s2").write_text("200\tprompt\ta\n")
    store = UsageStore(tmp_path / "usage.sqlite")
    assert store.harvest_offers(folder) == 3
    assert store.harvest_offers(folder) == 0
    store.note(["a"], "s2", 201.0)
    store.note_outcome("s2", "a", False)
    store.note_outcome("s2", "a", True)
    assert store.offers() == {
        "a": OfferCount(offered=2, taken=1, helped=1, failed=0),
        "b": OfferCount(offered=1),
    }


@pytest.mark.parametrize(
    "description",
    [
        "Use when docker build ignores the layer cache",
        "Use this skill when a Postgres migration hangs on a lock.",
        "Before releasing the site, when the manifest is missing from public",
        "部署失败时使用：修复构建缓存",
    ],
)
def test_descriptions_that_trigger(description: str) -> None:
    assert description_faults("x", description) == []


@pytest.mark.parametrize(
    ("description", "word"),
    [
        ("", "empty"),
        ("Helps with the docker build cache and its layers", "begin"),
        ("Use when it", "shorter"),
        ("Use when " + "docker layers vanish " * 40, "characters"),
    ],
)
def test_descriptions_that_do_not(description: str, word: str) -> None:
    faults = description_faults("x", description)
    assert any(word in fault for fault in faults), faults


def test_a_description_should_name_the_words_that_one_meets() -> None:
    text = "Use when the release of the site stops half-way through"
    assert description_faults("x", text, trigger="E417 asset pipeline has no manifest")
    assert description_faults("x", f"{text}: no manifest", trigger="E417 pipeline manifest") == []


def test_a_text_that_was_given_whole_counts_as_loaded(tmp_path: Path) -> None:
    folder = tmp_path / "offered"
    folder.mkdir()
    (folder / "s1").write_text("100\tbody\ta\n")
    store = UsageStore(tmp_path / "usage.sqlite")
    store.harvest_offers(folder)
    assert store.offers() == {"a": OfferCount(offered=1, taken=1)}
