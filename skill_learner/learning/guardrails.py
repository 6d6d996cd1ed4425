"""Warnings of failures that were not cured: tied to the error, and never more than that."""

from __future__ import annotations

from skill_learner.learning.body_check import code_spans
from skill_learner.learning.evidence import cited_steps
from skill_learner.learning.results import failed, is_environment
from skill_learner.learning.signatures import error_lines, error_signature
from skill_learner.learning.spans import normalise
from skill_learner.models import CreateSkill, Session

NO_CURE = "> Guardrail: no remedy is known. This note expires."
"""Last line of a guardrail."""

_FEWEST_FAILURES = 2


def guardrail_fault(draft: CreateSkill, session: Session) -> str:
    """Why a draft is no guardrail, "" when it is: the same error at least twice, not of the machine
    or the editor, and quoted in the description, which is what makes it be found."""
    cited = cited_steps(draft.evidence)
    calls = [step.call for step in session.steps if step.number in cited and step.call]
    errors = [lines for call in calls if failed(call) and (lines := error_lines(call.result))]
    if len(errors) < _FEWEST_FAILURES or len({error_signature(lines) for lines in errors}) > 1:
        return "a guardrail needs the same error at least twice"
    if any(is_environment("\n".join(lines)) for lines in errors):
        return "a failure of the machine is not a lesson"
    shown = normalise("\n".join(line for lines in errors for line in lines))
    if not any(normalise(span) in shown for span in code_spans(draft.description)):
        return "a guardrail's description must quote its error"
    return ""
