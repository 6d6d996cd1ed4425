"""What one review's proposals are judged with, and what makes a new skill active at once."""

from __future__ import annotations

from dataclasses import dataclass

from skill_learner.learning.evidence import human_word, proves_fix
from skill_learner.learning.gate_policy import GatePolicy
from skill_learner.learning.proof import ProofTexts
from skill_learner.learning.redaction import Redactor
from skill_learner.learning.session_names import SessionNames
from skill_learner.models import CreateSkill, Session, Skill


@dataclass(frozen=True)
class Case:
    """What one review's proposals are judged with. accepted: new skills of this review so far."""

    session: Session
    texts: ProofTexts
    names: SessionNames
    skills: tuple[Skill, ...]
    accepted: tuple[CreateSkill, ...]
    policy: GatePolicy
    redactor: Redactor


def grounds_for(draft: CreateSkill, case: Case) -> str:
    """Why a draft may be active at once under `evidence`, "" when there is no ground."""
    word = human_word(draft.evidence, case.session)
    if word == "remember":
        return "the human said to remember it"
    if case.policy.by_model:
        if word == "correction":
            return "the human's own correction"
        if proves_fix(draft.evidence, case.session):
            return "a check that failed and then passed is among its evidence"
    return ""
