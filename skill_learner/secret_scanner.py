"""A maintained scanner for the long tail of secrets, when it is installed (extra `secrets`).

Rules of our own know what a name or a known prefix gives away; this one knows the shapes of
hundreds of providers. It is slow to load, so only a review loads it, never a hook; it works in this
process and asks nobody. Absent or failing, our own rules stand alone, and `doctor` says so.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from skill_learner.learning.redaction.allow_list import is_hash, is_placeholder

_MODULE = "kingfisher_sdk"
_LONGEST_TEXT = 2_000_000
_SECONDS_A_TEXT = 10.0


def why_absent() -> str:
    """Why the scanner does not work, "" when it does (as far as can be told without loading it)."""
    try:
        found = importlib.util.find_spec(_MODULE)
    except (ImportError, ValueError):
        found = None
    return "" if found else "not installed: pip install 'skill-learner[secrets]'"


@lru_cache(maxsize=1)
def _scanner() -> Any:
    from kingfisher_sdk import Scanner

    return Scanner()


def long_tail_secrets(texts: Iterable[str]) -> tuple[list[str], str]:
    """(the secrets found, why the scanner could not work, else "")."""
    absent = why_absent()
    if absent:
        return [], absent
    try:
        scanner = _scanner()
        found: set[str] = set()
        for text in texts:
            for finding in scanner.scan(text[:_LONGEST_TEXT], timeout=_SECONDS_A_TEXT):
                value = str(finding.secret)
                if finding.visible and not is_placeholder(value) and not is_hash(value):
                    found.add(value)
    except Exception as error:  # whatever a native library raises: our own rules still stand
        return [], f"failed: {type(error).__name__}: {error}"
    return sorted(found), ""
