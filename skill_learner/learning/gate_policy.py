"""What the gate is told beside the session: who proposes, how strict to be, and the caps."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from skill_learner.models import DESCRIPTION_LIMIT


@dataclass(frozen=True)
class Limits:
    """Caps. active_skills: of one scope. patch_lines: changed by one patch. description: in
    characters.
    body_lines, body_tokens (characters / 4): of one skill. patches_per_day: applied unasked."""

    active_skills: int = 100
    patch_lines: int = 20
    description: int = DESCRIPTION_LIMIT
    body_lines: int = 200
    body_tokens: int = 5_000
    patches_per_day: int = 20


@dataclass(frozen=True)
class GatePolicy:
    """approval: manual = everything waits for the user; evidence = active only with a proved fix,
    the human's word or a second session; auto = active when every check passes.
    origin: who proposes, "offline", "llm:<provider>" or "agent". project_key: the scope.
    refused: fingerprints (`fingerprint.of`) of what the user rejected. patches_today: how many
    patches were applied today without asking.
    """

    approval: Literal["auto", "evidence", "manual"]
    origin: str
    project_key: str
    limits: Limits = field(default_factory=Limits)
    refused: frozenset[str] = frozenset()
    patches_today: int = 0

    @property
    def by_rule(self) -> bool:
        return self.origin == "offline"

    @property
    def by_model(self) -> bool:
        return self.origin.split(":", 1)[0] == "llm"
