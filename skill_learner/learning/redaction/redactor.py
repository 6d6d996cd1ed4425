"""Takes secrets and personal data out of text before it leaves the machine or reaches a skill.

Works on decoded strings; text that still holds `\\n` and `\\"` escapes is understood too. Pure and
deterministic: the same redactor given the same texts in the same order answers the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import quote

from skill_learner.learning.redaction.allow_list import (
    is_hash,
    is_password_name,
    is_placeholder,
    is_plain,
    is_secret_name,
    normalised_name,
    without_encoded_fields,
)
from skill_learner.learning.redaction.finding import Finding
from skill_learner.learning.redaction.formats import token_findings
from skill_learner.learning.redaction.named import named_findings
from skill_learner.learning.redaction.personal import personal_findings
from skill_learner.learning.redaction.structures import structure_findings

_SHORTEST_REMEMBERED = 6
_MOST_REMEMBERED = 5_000
_PASSES = 4


def secret_environment_values(environment: Mapping[str, str]) -> list[str]:
    """Values of the variables whose names say that they are secret."""
    values = []
    for name, value in environment.items():
        words = normalised_name(name)
        if (is_password_name(words) or is_secret_name(words)) and _is_worth_remembering(value):
            values.append(value)
    return sorted(set(values))


class Redactor:
    """Replaces secrets and personal data by placeholders, and remembers what it replaced.

    extra_values: secrets known beforehand (see `secret_environment_values`, or what another scanner
    found); replaced wherever they stand.
    """

    def __init__(self, extra_values: Iterable[str] = ()) -> None:
        self._values: dict[str, str] = {}
        self._names: dict[str, tuple[str, re.Pattern[str]]] = {}
        for value in extra_values:
            self.remember(value)

    def remember(self, value: str, replacement: str = "<secret:known>") -> None:
        """Replace `value` from now on wherever it stands. Values that are too short or too common
        to be told from other text are ignored."""
        if len(self._values) < _MOST_REMEMBERED and _is_worth_remembering(value):
            for form in (value, quote(value, safe="")):
                self._values.setdefault(form, replacement)

    def findings(self, text: str) -> list[Finding]:
        """What would be replaced, in order, without overlaps. Remembers nothing."""
        return _without_overlaps([*_scan(text), *self._known(text)])

    def redact(self, text: str) -> str:
        """`text` with placeholders for what the rules find and for all that was found before."""
        # A placeholder may uncover what the text before it hid; homes and names uncover nothing.
        for _ in range(_PASSES):
            text, again = self._redact_once(text)
            if not again:
                break
        return text

    def replace_known(self, text: str) -> str:
        """`text` with what was remembered so far replaced; no rules, so cheap."""
        for value, replacement in self._values.items():
            if value in text:
                text = text.replace(value, replacement)
        for name, (replacement, pattern) in self._names.items():
            if name in text or name.lower() in text or name.capitalize() in text:
                text = pattern.sub(replacement, text)
        return text

    def _redact_once(self, text: str) -> tuple[str, bool]:
        """`text` redacted, and whether a secret was in it."""
        found = list(_scan(text))
        for finding in found:
            self._learn(text, finding)
        pieces, position = [], 0
        for finding in _without_overlaps(found):
            pieces += [text[position : finding.start], finding.replacement]
            position = finding.end
        pieces.append(text[position:])
        again = any(not finding.personal for finding in found)
        return self.replace_known("".join(pieces)), again

    def _learn(self, text: str, finding: Finding) -> None:
        if not finding.remember:
            return
        value = text[finding.start : finding.end]
        if finding.kind in ("user", "host"):
            self._remember_name(value.strip(), finding.replacement)
        elif finding.kind == "private-key":
            for line in re.findall(r"[A-Za-z0-9+/=]{40,}", value):
                self.remember(line, finding.replacement)
        else:
            self.remember(value, finding.replacement)

    def _remember_name(self, name: str, replacement: str) -> None:
        if name not in self._names and len(self._names) < _MOST_REMEMBERED and len(name) >= 4:
            spellings = "|".join(
                re.escape(form) for form in sorted({name, name.lower(), name.capitalize()})
            )
            pattern = re.compile(rf"(?<![A-Za-z0-9<])(?:{spellings})(?![A-Za-z0-9>])")
            self._names[name] = (replacement, pattern)

    def _known(self, text: str) -> Iterator[Finding]:
        for value, replacement in self._values.items():
            position = text.find(value)
            while position >= 0:
                yield Finding("known", position, position + len(value), replacement)
                position = text.find(value, position + len(value))
        for replacement, pattern in self._names.values():
            for match in pattern.finditer(text):
                yield Finding("user", *match.span(), replacement, personal=True)


def _scan(text: str) -> Iterator[Finding]:
    if len(text) < _SHORTEST_REMEMBERED:
        return
    scanned = without_encoded_fields(text)
    yield from token_findings(scanned)
    yield from structure_findings(scanned)
    yield from named_findings(scanned)
    yield from personal_findings(scanned)


def _without_overlaps(findings: list[Finding]) -> list[Finding]:
    """Secrets win over personal data; then the earlier and longer finding wins, and what sticks out
    of it is kept as a finding of its own only when it starts behind it."""
    kept: list[Finding] = []
    end = 0
    for finding in sorted(findings, key=lambda f: (f.start, -f.end, f.personal)):
        if finding.start >= end:
            kept.append(finding)
            end = finding.end
        elif finding.end > end:
            last = kept[-1]
            widest = last if not last.personal or finding.personal else finding
            kept[-1] = Finding(
                widest.kind, last.start, finding.end, widest.replacement, personal=widest.personal
            )
            end = finding.end
    return kept


def _is_worth_remembering(value: str) -> bool:
    if len(value) < _SHORTEST_REMEMBERED or "<" in value or ">" in value or "\n" in value:
        return False
    if value.startswith("secret:") or is_placeholder(value) or is_plain(value):
        return False
    return len(value) >= 8 or not is_hash(value)
