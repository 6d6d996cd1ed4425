"""What the rules hand to the redactor."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """A span of text to replace.

    kind: what was found ("github-token", "password", "email", "home-path", "user", ...).
    replacement: what stands there afterwards.
    remember: the same value is to be replaced wherever else it occurs.
    personal: says who or where somebody is, and opens no door (e-mail, home path, user name).
    """

    kind: str
    start: int
    end: int
    replacement: str
    remember: bool = True
    personal: bool = False


def secret(kind: str, start: int, end: int, *, remember: bool = True) -> Finding:
    """A finding whose text opens a door; replaced by `<secret:kind>`."""
    return Finding(kind, start, end, f"<secret:{kind}>", remember)
