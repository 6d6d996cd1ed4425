"""The reviewer without a model: honest notes from episodes found by rule.

"A failed with E; B passed; files changed", and the human's own words. It concludes nothing. The
gate makes such notes candidates; a second session or the human's word makes them active.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from skill_learner.interfaces import ReviewRequest
from skill_learner.learning.languages import detect_language
from skill_learner.learning.redaction import Redactor
from skill_learner.models import Claim, CreateSkill, Episode, Review, Session
from skill_learner.reviewers.failure_notes import failure_note, is_worth_a_note
from skill_learner.reviewers.scrubbing import scrubber
from skill_learner.reviewers.word_notes import is_worth_keeping, repeated_note, words_note

_MOST_PROPOSALS = 5
_PRIMED_CHARACTERS = 20_000


class OfflineReviewer:
    """Writes notes by rule, in the human's language, with fixed confidence. Needs no network.

    make_redactor: gives a fresh redactor for each review.
    """

    name = "offline"

    def __init__(self, make_redactor: Callable[[], Redactor] = Redactor) -> None:
        self._make_redactor = make_redactor

    def review(self, request: ReviewRequest) -> Review:
        session = request.session
        redactor = self._make_redactor()
        for text in _texts_around(session, request.episodes):
            redactor.redact(text)  # it remembers names and values found here
        scrub = scrubber(session, redactor.redact)
        language = detect_language(step.text for step in session.steps if step.kind == "human")
        notes: dict[str, CreateSkill] = {}
        for episode in request.episodes:
            note = _note(session, episode, language, scrub)
            if note is not None:
                notes[note.trigger_key] = note
        _heed_bare_orders(request.episodes, notes)
        chosen = sorted(notes.values(), key=lambda one: -one.confidence)[:_MOST_PROPOSALS]
        return Review(
            outcome=f"{len(request.episodes)} episodes found by rule",
            proposals=tuple(chosen),
            nothing_because="" if chosen else _nothing(request.episodes),
        )


def _note(
    session: Session, episode: Episode, language: str, scrub: Callable[[str], str]
) -> CreateSkill | None:
    if episode.kind == "fixed_failure":
        if not is_worth_a_note(session, episode):
            return None
        return failure_note(session, episode, language, scrub)
    if episode.kind in {"correction", "refusal", "remember_request"}:
        if not is_worth_keeping(session, episode):
            return None
        return words_note(session, episode, language, scrub)
    if episode.kind == "repeated_commands":
        return repeated_note(episode, language, scrub)
    return None  # "answered": what was learned there takes more than rules to say


def _heed_bare_orders(episodes: Iterable[Episode], notes: dict[str, CreateSkill]) -> None:
    """A "remember this" without words of its own is about what was found last before it."""
    before: list[str] = []
    for episode in sorted(episodes, key=lambda one: one.steps[-1]):
        if episode.trigger_key in notes:
            before.append(episode.trigger_key)
        elif episode.kind == "remember_request" and before:
            note = notes[before[-1]]
            order = Claim(episode.quote, episode.steps)
            notes[note.trigger_key] = replace(
                note, evidence=(*note.evidence, order), explicit=True, confidence=0.9
            )


def _nothing(episodes: tuple[Episode, ...]) -> str:
    if not episodes:
        return "nothing non-obvious: no episode was found by rule"
    kinds = ", ".join(sorted({episode.kind.replace("_", " ") for episode in episodes}))
    return f"what was found ({kinds}) is no more than rules alone can put in a note"


def _texts_around(session: Session, episodes: Iterable[Episode]) -> Iterable[str]:
    """Texts of the cited steps, the human's first, so that the redactor knows names in them."""
    wanted = {number for episode in episodes for number in episode.steps}
    for step in session.steps:
        if step.kind == "human":
            yield step.text[:_PRIMED_CHARACTERS]
        elif step.number in wanted and step.call is not None:
            yield (step.call.result or "")[:_PRIMED_CHARACTERS]
