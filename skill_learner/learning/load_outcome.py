"""What came of a skill that a session loaded: did the check that had failed pass after it?"""

from __future__ import annotations

from skill_learner.learning.commands import shell_steps
from skill_learner.learning.results import failed, passed
from skill_learner.learning.same_check import likeness
from skill_learner.models import Session

_LOOKED_BACK = 10
"""Commands before a load among which the failed check is looked for."""


def load_helped(session: Session, load: int) -> bool | None:
    """load: the number of the step that loaded the skill. None where nothing had failed shortly
    before, the check never ran again, or nobody can tell how it ended."""
    ran = list(shell_steps(session))
    before = [(call, line) for step, call, line in ran if step.number < load][-_LOOKED_BACK:]
    check = next((line for call, line in reversed(before) if failed(call)), None)
    if check is None:
        return None
    after = [
        True if passed(call, line) else False if failed(call) else None
        for step, call, line in ran
        if step.number > load and likeness(check, line, session.project)
    ]
    told = [ended for ended in after if ended is not None]
    return told[-1] if told else None
