"""What no skill may hold, whether true or not: names of one session, counts of one day, rules of
the editor, findings that were silenced."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache

from skill_learner.learning import injection
from skill_learner.learning.prose_words import COUNTED
from skill_learner.learning.results import EDITOR_RULES
from skill_learner.learning.session_names import SessionNames

_PASSING = (
    ("a commit hash", re.compile(
        r"(?<![\w#./-])(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)[0-9a-f]{7,40}(?![\w-])")),
    ("a pinned hash", re.compile(r"@[0-9a-f]{40}\b")),
    ("an id", re.compile(
        r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|\btoolu_\w+")),
    ("a temporary path", re.compile(
        r"(?<![\w.~-])(?:/private)?/(?:tmp|var/tmp|var/folders)/\w|\$env:TEMP|\$TMPDIR"
        r"|[\\/]AppData[\\/]Local[\\/]Temp", re.IGNORECASE)),
    ("a home path", re.compile(r"(?<![\w.])/(?:Users|home)/[^/\s`]+/|[A-Za-z]:\\+Users\\+")),
    ("a redacted value", re.compile(r"\[REDACTED\]|<(?:secret:[\w-]+|email)>")),
    ("the name of a model", re.compile(
        r"\bclaude[- ](?:opus|sonnet|haiku|fable)\b|\bclaude-\d", re.IGNORECASE)),
    ("a ticket", re.compile(
        r"(?<![\w/&#.-])#\d{2,}\b|\b(?!(?:UTF|SHA|ISO|CVE|CWE|RFC|MD|TLS|SSL|AES|RSA|PEP|ES|CP|GB"
        r"|IEEE|HTTP|PKCS|JEP|BASE|GHSA|RS|HS|ED|EC|LTS|TS|ANSI|IEC|US|WIN|AMD|ARM|UTC|GMT"
        r"|JSR|PSR|BCP|NIST|FIPS|COVID|GPT|IE|CSS|HTML|ECMA|WCAG|KB|ASCII)-)"
        r"[A-Z]{2,8}-\d{2,6}\b")),
    ("a file of the editor's own", re.compile(r"\.claude[\\/](?:plans|projects|todos|worktrees)")),
    ("a phase of one plan", re.compile(
        r"\b(?:phases?|sprint|milestone|iteration)\s+\d+(?:\.\d+)?\b", re.IGNORECASE)),
)  # fmt: skip

_CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")
_PIPED = re.compile(r"\bpip(?:e|es|ed|ing)\b.{0,80}\b(?:in)?to (?:\w+ )?(?:ba|z|da)?sh\b", re.I)
_PERSON = re.compile(r"<(?:user|host)>")
_NUMBER_WORDS = dict.fromkeys(
    "five six seven eight nine ten eleven twelve dozen dozens hundreds thousands twenty thirty "
    "forty fifty hundred".split(),
    99,
)
_COUNT = re.compile(
    r"(?<![\w.\-/])(?:~\s?|about |around |some |roughly )?"
    rf"(?P<number>\d{{1,3}}(?:[.,]\d{{3}})+|\d+|{'|'.join(_NUMBER_WORDS)})\+?"
    rf"(?P<noun>\s+(?!of\b|in\b|to\b)(?:[\w-]+\s+){{0,2}}{COUNTED}(?![\w-]))",
    re.IGNORECASE,
)
_ASIDE = re.compile(rf"\s*\((?=[^()`]*\d)(?=[^()`]*{COUNTED}\b)[^()`]{{1,60}}\)", re.IGNORECASE)
_EXISTENTIAL = re.compile(
    r"\bthere (?:are|is|were|was)\b|\b(?:has|have|had|holds?|contains?|remain(?:s|ed|ing)?"
    r"|pending|left|open|in total|total|known|expect(?:s|ed)?|pre-?existing|counted|amount)\b"
    r"|\bes gibt\b|\bil y a\b|\bhay\b|\bhá\b|\bci sono\b|存在",
    re.IGNORECASE,
)
_PATHLIKE = re.compile(r"`|\b\w[\w-]*/[\w./*-]+|\b\w+\.[a-z]{1,5}\b")
_WORD = re.compile(r"[^\W\d_]{3,}")
_FEW = 4


def never_saved(sentence: str, names: SessionNames) -> str:
    """Why a sentence may not stand in any skill, "" when it may."""
    if _PERSON.search(_CODE.sub(" ", sentence)):
        return "a person or machine is nobody's lesson"
    for what, pattern in _PASSING:
        if pattern.search(sentence):
            return f"{what} is of no use to a later session"
    if _holds(sentence, names.passing):
        return "a branch, worktree or id of this session"
    if _holds(sentence, names.suppressed):
        return "a finding that was silenced in place"
    return _foreign(sentence) or _tally(sentence)


def _holds(sentence: str, names: Collection[str]) -> bool:
    return any(name in sentence and _whole(name).search(sentence) for name in names)


def _foreign(sentence: str) -> str:
    """A rule of the editor, or an instruction that somebody smuggled in."""
    if EDITOR_RULES.search(sentence):
        return "a rule of the editor"
    if _PIPED.search(sentence):
        return "looks like an injected instruction: pipes what it fetched into a shell"
    found = injection.findings(sentence)
    if any(one.kind != "open fence" for one in found):
        return f"looks like an injected instruction: {found[0].reason}"
    return ""


@lru_cache(maxsize=1024)
def _whole(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])")


def _tally(sentence: str) -> str:
    """A sentence whose point is a count of the day."""
    count = _counts(sentence)
    if not count:
        return ""
    bare = _CODE.sub(lambda match: " " * len(match.group()), sentence)
    others = set(_WORD.findall(_COUNT.sub(" ", bare)))
    command = any(" " in match.group(2) for match in _CODE.finditer(sentence))
    if _EXISTENTIAL.search(bare) and not command:
        return f"a count of the day ({count})"
    if not _PATHLIKE.search(sentence) and len(others) < _FEW:
        return f"a count of the day ({count})"
    return ""


def _counts(sentence: str) -> str:
    bare = _CODE.sub(lambda match: " " * len(match.group()), sentence)
    for match in _COUNT.finditer(bare):
        if _value(match.group("number")) > _FEW:
            return match.group().strip()
    return ""


def _value(number: str) -> int:
    return _NUMBER_WORDS.get(number.lower()) or int(re.sub(r"\D", "", number) or 0)


def without_counts(sentence: str) -> str:
    """The sentence without the numbers of things counted once; code is left as it is."""
    pieces: list[str] = []
    last = 0
    for code in _CODE.finditer(sentence):
        pieces += [_cut(sentence[last : code.start()]), code.group()]
        last = code.end()
    return "".join((*pieces, _cut(sentence[last:])))


def _cut(prose: str) -> str:
    def bare(match: re.Match[str]) -> str:
        many = _value(match.group("number")) > _FEW
        return match.group("noun").lstrip() if many else match.group()

    return _COUNT.sub(bare, _ASIDE.sub("", prose))
