"""What the editor lists of the learned skills, and what is left out, for `status`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skill_learner.cli.output import say
from skill_learner.cli.settings import key_of, root_of
from skill_learner.config import SkillLearnerConfig

if TYPE_CHECKING:
    from skill_learner.models import Skill
    from skill_learner.skills.library import SkillLibrary

_MOST_LISTED, _MOST_LEFT_OUT = 10, 5


def listings_of(
    config: SkillLearnerConfig, project_dir: Path, library: SkillLibrary, skills: Sequence[Skill]
) -> list[dict[str, Any]]:
    """For the project and for the user: the room, what it holds, and why the rest is out. skills:
    all of the library."""
    from skill_learner.listing import entry_size
    from skill_learner.published_set import listing_for, what_is_shared

    shared = what_is_shared(config, library, skills)
    rows = []
    for whose, place, key in (
        ("this project", str(root_of(project_dir)), key_of(project_dir)),
        ("the user", "", "user"),
    ):
        listing = listing_for(config, library, place, key, shared)
        rows.append(
            {
                "of": whose,
                "room": listing.room,
                "taken": listing.taken,
                "own_skills": listing.others,
                "listed": [
                    {"name": s.name, "characters": entry_size(s.name, s.description)}
                    for s in listing.listed
                ],
                "left_out": [{"name": s.name, "why": why} for s, why in listing.left_out],
            }
        )
    return rows


def show_listings(rows: list[dict[str, Any]]) -> None:
    for row in rows:
        if not row["listed"] and not row["left_out"]:
            continue
        own = row["own_skills"]
        beside = f" beside {own:,} of your own skills" if own else ""
        say(
            f"editor's listing, skills of {row['of']}: {len(row['listed'])} whole, in"
            f" {row['taken']:,} of {row['room']:,} characters{beside};"
            f" {len(row['left_out'])} left to search"
        )
        names = [skill["name"] for skill in row["listed"]]
        if names:
            more = len(names) - _MOST_LISTED
            rest = f" and {more} more" if more > 0 else ""
            say(f"  in: {', '.join(names[:_MOST_LISTED])}{rest}")
        for left in row["left_out"][:_MOST_LEFT_OUT]:
            say(f"  out: {left['name']}: {left['why']}")
        if len(row["left_out"]) > _MOST_LEFT_OUT:
            say(f"  and {len(row['left_out']) - _MOST_LEFT_OUT} more (--json shows all)")
