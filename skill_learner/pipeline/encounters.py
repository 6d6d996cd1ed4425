"""What a session says about when its skills are wanted: the human's words before each, and the
errors that a new one was learned from. Search finds a skill by them the next time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from skill_learner.learning.load_outcome import load_helped
from skill_learner.learning.redaction import Redactor
from skill_learner.learning.signatures import error_fragments
from skill_learner.models import CreateSkill, Decision, Episode, PatchSkill, Session
from skill_learner.pipeline.outcome import JobOutcome
from skill_learner.pipeline.services import PipelineServices
from skill_learner.transcripts.skill_loads import loaded_skill_names

_TAUGHT = frozenset({"created", "evidence", "patched"})


def remember_encounters(
    services: PipelineServices,
    session: Session,
    outcome: JobOutcome,
    episodes: Sequence[Episode],
    redactor: Redactor,
) -> None:
    """Keep asks and errors with the skills that the session loaded or taught. episodes: as found,
    not as shown."""
    store = services.library.encounters
    known = {skill.name for skill in services.library.list(("active", "candidate"))}
    for name, step in _loads(session):
        if name in known:
            store.add(name, _asks(session, [step], redactor))
            helped = load_helped(session, step)
            if helped is not None:
                services.usage.note_outcome(session.id, name, helped)
    for change in outcome.skills_written:
        if change.change not in _TAUGHT:
            continue
        steps = sorted(_cited(outcome.decisions, change.name))
        behind = [e for e in episodes if e.kind == "fixed_failure" and set(e.steps) & set(steps)]
        errors = [error_fragments(redactor.redact(e.error).splitlines()) for e in behind]
        asks = _asks(session, steps[:1], redactor) + _phrasings(outcome, change.name, redactor)
        store.add(change.name, asks, [error for error in errors if error])


def _phrasings(outcome: JobOutcome, name: str, redactor: Redactor) -> list[str]:
    """The reviewer's own ways to ask for a skill that it wrote."""
    proposals = [decision.proposal for decision in outcome.decisions]
    return [
        redactor.redact(ask)
        for proposal in proposals
        if isinstance(proposal, CreateSkill) and proposal.name == name
        for ask in proposal.asks
    ]


def _loads(session: Session) -> Iterable[tuple[str, int]]:
    """Each load among the new steps: the skill's name, the number of the step."""
    for step in session.steps:
        call = step.call
        if call is None or step.number < session.first_new_step or call.status != "ok":
            continue
        for name in loaded_skill_names(call.name, call.input, None):
            yield name, step.number


def _cited(decisions: Sequence[Decision], name: str) -> set[int]:
    """The steps that the decisions about a skill cite; of all decisions where none names it (the
    library may have given it another name)."""
    named = [d for d in decisions if name in (d.skill, d.proposal.name)] or list(decisions)
    return {
        step
        for decision in named
        if isinstance(decision.proposal, CreateSkill | PatchSkill)
        for claim in decision.proposal.evidence
        for step in claim.steps
    }


def _asks(session: Session, before: Sequence[int], redactor: Redactor) -> list[str]:
    """The human's last words before a step, and what the session began with."""
    human = [step for step in session.steps if step.kind == "human" and step.text.strip()]
    if not human:
        return []
    wanted = human[:1]
    for number in before:
        wanted = [step for step in human if step.number <= number][-1:] + wanted
    texts = (step.text for step in wanted if not step.text.lstrip().startswith(("/", "<")))
    return [redactor.redact(text) for text in dict.fromkeys(texts)]
