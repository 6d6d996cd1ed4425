"""Places in a session where something non-obvious may have been learned, found by rule."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from skill_learner.learning.fixed_failures import find_fixed_failures
from skill_learner.learning.human_words import find_human_episodes
from skill_learner.learning.repeats import find_repeated_commands
from skill_learner.models import Episode, Session


def find_episodes(
    session: Session, *, earlier_sequences: Collection[Sequence[str]] = ()
) -> tuple[Episode, ...]:
    """All episodes whose last step no earlier review has seen, in the order of their last steps;
    and what a new order to remember may mean: the last fix before it, though it was reviewed.

    earlier_sequences: what `repeats.command_sequence` gave for other sessions of the project.
    """
    found = (
        *find_fixed_failures(session),
        *find_human_episodes(session),
        *find_repeated_commands(session, earlier_sequences),
    )
    fresh = [one for one in found if one.steps[-1] >= session.first_new_step]
    meant = [one for one in _last_fix_before_an_order(found, fresh) if one not in fresh]
    return tuple(sorted((*meant, *fresh), key=lambda one: (one.steps[-1], one.steps[0])))


def _last_fix_before_an_order(
    found: Sequence[Episode], fresh: Sequence[Episode]
) -> tuple[Episode, ...]:
    orders = [one.steps[0] for one in fresh if one.kind == "remember_request"]
    if not orders:
        return ()
    fixes = [one for one in found if one.kind == "fixed_failure" and one.steps[-1] < orders[0]]
    return tuple(sorted(fixes, key=lambda one: one.steps[-1])[-1:])
