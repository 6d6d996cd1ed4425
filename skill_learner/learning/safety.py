"""What must not get into a skill: secrets, persons, hidden instructions, and complaints."""

from __future__ import annotations

import re
from dataclasses import replace

from skill_learner.learning import injection
from skill_learner.learning.redaction import Redactor
from skill_learner.learning.results import EDITOR_RULES, is_environment
from skill_learner.models import Claim, CreateSkill, PatchSkill

_NEGATIVE = re.compile(
    r"\b(?:does|do|did|will|can|could|is|are)(?:n['’]?t| not) (?:work|function|available|supported"
    r"|usable|installed|accessible|reachable|be used|be run|run here)\b"
    r"|\b(?:is|are) (?:broken|unavailable|unusable|unreliable|missing|down|inaccessible)\b"
    r"|\b(?:never|cannot|can['’]?t|don['’]?t|do not|avoid) us(?:e|ing)\b.{0,60}\b(?:here"
    r"|environment|machine|sandbox)\b"
    r"|\b(?:funktioniert|geht)(?: \w+)? nicht\b|\bne fonctionne pas\b"
    r"|\bno funciona\b|\bnão funciona\b"
    r"|\bnon funziona\b|\bwerkt niet\b"
    r"|\bnie działa\b|не работает|動作しない"
    r"|不工作|无法使用|작동하지 않"
    r"|\bçalışmıyor\b",
    re.IGNORECASE,
)
_NEGATIVE_NAME = re.compile(
    r"(?:does-not|doesnt|do-not|not|cannot|cant)-(?:work|working|available|use)|broken|unavailable"
)

_OF_THE_DAY = re.compile(
    r"\b(?:today|tonight|right now|at the moment|currently|this (?:machine|morning|afternoon|week)"
    r"|heute|im Moment|aujourd['’]hui|en ce moment|hoy|ahora mismo|hoje|neste momento|oggi|adesso"
    r"|vandaag|op dit moment|dzisiaj|dziś|сегодня|сейчас|bugün|şu anda)\b"
    r"|今日|今は|今天|现在|오늘|지금",
    re.IGNORECASE,
)


def redacted_create(draft: CreateSkill, redactor: Redactor) -> CreateSkill:
    """The draft with placeholders for every secret and every personal detail."""
    return replace(
        draft,
        description=redactor.redact(draft.description),
        body=redactor.redact(draft.body),
        evidence=_redacted_claims(draft.evidence, redactor),
    )


def redacted_patch(patch: PatchSkill, redactor: Redactor) -> PatchSkill:
    """The patch with its new text redacted; the old text names what stands there as it is."""
    return replace(
        patch,
        new=redactor.redact(patch.new),
        evidence=_redacted_claims(patch.evidence, redactor),
    )


def _redacted_claims(claims: tuple[Claim, ...], redactor: Redactor) -> tuple[Claim, ...]:
    return tuple(replace(claim, text=redactor.redact(claim.text)) for claim in claims)


def injection_reasons(*texts: str) -> tuple[str, ...]:
    """Why a text may be an instruction smuggled in, in words."""
    found = [finding for text in texts for finding in injection.findings(text)]
    return tuple(
        dict.fromkeys(f"looks like an injected instruction: {one.reason}" for one in found)
    )


def state_of_the_day(draft: CreateSkill) -> str:
    """Why the human's own words, asked to be remembered, may be true of a day or a machine only, ""
    when nothing says so."""
    words = " ".join(claim.text for claim in draft.evidence)
    if draft.explicit and _NEGATIVE.search(words) and _OF_THE_DAY.search(words):
        return "it tells what does not work now or on this machine: approve it if it is to last"
    return ""


def complaint(draft: CreateSkill) -> str:
    """Why a draft is a complaint about a tool or the machine instead of knowledge, "" when it is
    not. Error texts quoted in code are left out of the question."""
    name = _NEGATIVE_NAME.search(draft.name)
    prose = re.sub(r"`[^`]*`|[“\"][^”\"]*[”\"]|:\s.*$", " ", draft.description)
    if name or _NEGATIVE.search(prose):
        return "a negative claim about a tool is not knowledge"
    if EDITOR_RULES.search(draft.description):
        return "a rule of the editor is not a lesson"
    if is_environment(draft.description):
        return "a failure of the machine is not a lesson"
    return ""
