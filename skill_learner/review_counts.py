"""What became of the reviews of one engine, in numbers."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


@dataclass
class ReviewCounts:
    """skills: how many were created, patched, archived. seconds: that all reviews took."""

    completed: int = 0
    failed: int = 0
    provider_errors: int = 0
    last_error: str = ""
    skills: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
