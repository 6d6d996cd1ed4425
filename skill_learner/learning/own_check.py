"""Did the check that a skill names pass when it was last run?"""

from __future__ import annotations

import re

from skill_learner.learning.body_check import code_spans
from skill_learner.learning.commands import shell_steps, work_parts
from skill_learner.learning.results import failed
from skill_learner.learning.same_check import likeness
from skill_learner.models import Session

_SECTION = re.compile(
    r"^##\s*(?:check|verify|verification|prüfung|vérification|comprobación|verificação|verifica"
    r"|controle|sprawdzenie|проверка|確認|检查|확인|kontrol)\b",
    re.IGNORECASE,
)


def check_commands(body: str) -> list[str]:
    """The command lines in the section that says how to check."""
    inside = fenced = False
    found: list[str] = []
    for line in body.splitlines():
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        elif line.startswith("## ") and not fenced:
            inside = bool(_SECTION.match(line))
        elif inside:
            spans = [line.strip()] if fenced else code_spans(line)
            found += [span for span in spans if work_parts(span)]
    return found


def failed_check(body: str, session: Session) -> str:
    """The command of a skill's own check that failed when the session last ran it, "" when none
    did. A check that the session never ran is judged elsewhere."""
    runs = list(shell_steps(session))
    for command in check_commands(body):
        last = None
        for _, call, line in runs:
            if likeness(command, line, session.project) == "same":
                last = call
        if last is not None and failed(last):
            return command
    return ""
