"""What reviewing a project's past sessions would cost: told, and asked, before it is done."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from skill_learner.cli.output import say
from skill_learner.config import SkillLearnerConfig
from skill_learner.errors import SkillLearnerError

_PROMPT = 3_000
"""Tokens of instructions around a digest."""
_ANSWER = 1_500
OFFLINE = "offline"


@dataclass(frozen=True)
class Estimate:
    """sessions: those that could be read. reviews: those a reviewer would be asked about.
    cost_usd: None when nothing on record tells what a token costs."""

    sessions: int
    reviews: int
    tokens: int
    cost_usd: float | None


def estimate(
    config: SkillLearnerConfig,
    paths: Sequence[Path],
    reviewer: str,
    step: Callable[[str], None],
) -> Estimate:
    """Read the sessions as a review would, and ask nobody."""
    from skill_learner.learning.digest import build_digest
    from skill_learner.learning.episodes import find_episodes
    from skill_learner.learning.redaction import Redactor
    from skill_learner.privacy import without_private
    from skill_learner.session_loader import load_session

    sessions = reviews = tokens = 0
    for path in paths:
        step(f"reading {path.name}")
        try:
            session = without_private(load_session(None, path), config.privacy)
        except SkillLearnerError:
            continue
        sessions += 1
        if find_episodes(session) or config.review_when == "always":
            reviews += 1
            if reviewer != OFFLINE:
                digest = build_digest(
                    session, budget_tokens=config.digest_tokens, redactor=Redactor()
                )
                tokens += digest.tokens + _PROMPT + _ANSWER
    price = _price(config, reviewer) if tokens else 0.0
    return Estimate(sessions, reviews, tokens, None if price is None else price * tokens)


def tell(found: Estimate, reviewer: str, config: SkillLearnerConfig) -> None:
    """The estimate in words."""
    from skill_learner.ledger import Ledger

    say(f"{found.sessions} past sessions, {found.reviews} with something to learn from.")
    if reviewer == OFFLINE:
        say("Reviewer: offline. Nothing leaves this machine, and it costs nothing.")
        return
    cost = (
        "what that costs is not known yet"
        if found.cost_usd is None
        else f"about {found.cost_usd:.2f} USD by what calls have cost so far"
    )
    say(f"Reviewer: {reviewer}. About {found.tokens:,} tokens; {cost}.")
    spend = Ledger(config.paths.ledger).today()
    left = max(0, config.daily_reviews - spend.reviews)
    if found.reviews > left or spend.tokens + found.tokens > config.daily_tokens:
        say(f"note: today's ceilings leave {left} reviews; what is above them fails and can be")
        say("repeated tomorrow, or raise `daily_reviews` and `daily_tokens`.")


def _price(config: SkillLearnerConfig, reviewer: str) -> float | None:
    """USD per token, by the calls of this provider whose cost is known."""
    from skill_learner.ledger import Ledger

    tokens, cost = 0, 0.0
    for call in Ledger(config.paths.ledger).calls():
        if call.provider == reviewer and call.cost_usd is not None:
            tokens += call.tokens_in + call.tokens_out
            cost += call.cost_usd
    return cost / tokens if tokens else None
