"""Until when the hooks record nothing: one number in the state folder."""

from __future__ import annotations

import contextlib
import re
import time
from datetime import datetime, timedelta

from skill_learner.errors import ConfigError
from skill_learner.files import atomic_write, ensure_private_dir
from skill_learner.paths import StatePaths

FOR_EVER = 253_402_300_799  # the last second of the year 9999
_UNITS = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), 60),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), 3_600),
    **dict.fromkeys(("d", "day", "days"), 86_400),
    **dict.fromkeys(("w", "wk", "wks", "week", "weeks"), 604_800),
}
_LENGTH = re.compile(r"([0-9]+)\s*([a-z]+)", re.IGNORECASE)


def paused_until(paths: StatePaths) -> int:
    """Unix seconds until which recording pauses; 0 when it does not, or no longer."""
    try:
        until = int(paths.pause.read_bytes())
    except (OSError, ValueError):
        return 0
    return until if until > time.time() else 0


def pause(paths: StatePaths, until: int) -> None:
    ensure_private_dir(paths.root)
    atomic_write(paths.pause, f"{until}\n".encode("ascii"), 0o600)


def resume(paths: StatePaths) -> bool:
    """Whether there was a pause to end."""
    was_paused = bool(paused_until(paths))
    with contextlib.suppress(FileNotFoundError):
        paths.pause.unlink()
    return was_paused


def moment(text: str, now: datetime) -> int:
    """Unix seconds of "90m", "1h", "2d", "18:30", "2026-12-24" or "2026-12-24 18:30" (local time).
    Raises ConfigError for anything else and for what is past."""
    until = _end_of(text.strip(), now)
    if until <= now.timestamp():
        raise ConfigError(f"{text!r} is past", "give a moment to come")
    return until


def _end_of(text: str, now: datetime) -> int:
    try:
        length = _seconds(text)
        if length is not None:
            return min(int(now.timestamp()) + length, FOR_EVER)
        return int((_clock(text, now) or datetime.fromisoformat(text)).timestamp())
    except (ValueError, OverflowError):  # also a date that this system's clock cannot count
        raise ConfigError(
            f"{text!r} is no length of time and no date",
            "for example 90m, 1h, 2 days, 1w, 18:30 or 2030-01-31",
        ) from None


def _seconds(text: str) -> int | None:
    """Of a length of time; None for what is none."""
    found = _LENGTH.fullmatch(text)
    if not found:
        return None
    unit = _UNITS.get(found[2].lower())
    if unit is None:
        raise ValueError(found[2])
    return int(found[1]) * unit


def _clock(text: str, now: datetime) -> datetime | None:
    """A time of day: today's, or tomorrow's when that is past."""
    found = re.fullmatch(r"(\d{1,2}):(\d\d)", text.strip())
    if not found:
        return None
    at = now.replace(hour=int(found[1]), minute=int(found[2]), second=0, microsecond=0)
    return at if at > now else at + timedelta(days=1)
