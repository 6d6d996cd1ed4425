"""Secrets that only the words before them give away: a name, a flag, a header, a sentence."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from functools import lru_cache

from skill_learner.learning.redaction.allow_list import (
    character_classes,
    is_hash,
    is_password_name,
    is_placeholder,
    is_secret_name,
    is_unmistakable_name,
    looks_password,
    looks_secret,
    normalised_name,
)
from skill_learner.learning.redaction.finding import Finding, secret
from skill_learner.learning.redaction.passwords import password_findings

_KEYWORDS = ("pass", "pwd", "pw", "secret", "token", "key", "auth", "cred", "jwk", "dsn")
_NAME_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.")
_LONGEST_NAME = 60
_LONGEST_VALUE = 2_000

_OPENERS = frozenset("=: \t,>\"'`\\])\r\n")
_NAME_END = re.compile(r"[\w.-]{0,48}")
_ASSIGNED = re.compile(
    r"""(?:\\{0,3}["'`\])]){0,3} [ \t]{0,12}
        (?: => | := | [=:] | (?<=["'])[ \t]?,(?=[ \t]{0,12}\\{0,3}["']) ) (?![=:~>]) [ \t]{0,12}
        (?: [bruf]{1,2}(?=["']) )? (?P<quote>\\{0,3}["'`])?""",
    re.VERBOSE,
)
_PAIRED = re.compile(  # - name: DB_PASSWORD / value: …
    r"""\\{0,3}["']?,?(?:\s|\\n){1,40}\\{0,3}["']?[Vv]alue\\{0,3}["']?[ \t]{0,4}"""
    r"""[:=][ \t]{0,4}(?P<quote>\\{0,3}["'])?"""
)
_ELEMENT = re.compile(r">(?P<quote>)(?=[^<>\s]{6,200}</)")
_AFTER_SPACE = re.compile(r"""[ \t]{1,4}(?P<quote>\\{0,3}["'])?""")
_BEFORE_FLAG = re.compile(r"(?:^|[\s\"'`(\[])--?$")
_BEFORE_SETTING = re.compile(
    r"\b(?:set|setx|login|requirepass|masterauth)[ \t]{1,4}(?:[\w./:@-]{0,80}:)?$"
)
_BEFORE_IN_NETRC = re.compile(
    r"\b(?:machine|login|account)\b(?:\s|\\n){1,8}\S{1,200}(?:\s|\\n){1,8}$"
)
_UNQUOTED = re.compile(r"""[^\s"'`,;<>(){}\[\]|\\]{1,2000}""")
_ENVIRONMENT_VALUE = re.compile(r"""[^\s"'`\\]{1,2000}""")
_ENVIRONMENT_LINE = re.compile(r"(?:^|\n|\\n|\bexport |\bset |\benv |^\$ )[A-Z][A-Z0-9_]{2,60}=$")
_CODE_NAME = re.compile(r"[A-Za-z_][\w.]{0,120}")
_CALL = re.compile(r"[A-Za-z_][\w.]{0,80}\(")
_SCHEME = re.compile(
    r"(?:Bearer|Basic|Token|Api-?Key|Digest|Bot|Splunk|GenieKey|SSWS|Negotiate|key)[ =]\s{0,3}",
    re.I,
)
_BEARER = re.compile(r"\s{1,3}(?:\\{0,3}[\"'])?(?P<value>[A-Za-z0-9._~+/=-]{16,4096})")
_BASIC = re.compile(r"Basic\s{1,3}(?P<value>[A-Za-z0-9+/]{8,1024}={0,2})")
_SENTENCE = re.compile(
    r"""(?:word|wort|e|phrase|code|token|key|secret)?s?\b
        [^\n.:=\\]{0,40}?\b(?:is|was|ist|est|es|é)\b:?[ ]
        \\{0,3}["'`]?(?P<value>[^\s"'`\\<>]{8,128})""",
    re.VERBOSE,
)
_QUERY = re.compile(
    r"[?&](?:[\w.-]{0,30}(?:sig|signature|token|key|secret|password|passwd|auth|jwt))="
    r"(?P<value>[A-Za-z0-9%+/=_.~-]{12,2048})",
    re.I,
)
_QUOTED_WORD = re.compile(r"""\s{1,4}\\{0,3}["'](?P<value>[^"'\n\\]{6,128})""")


def named_findings(text: str) -> Iterator[Finding]:
    """Every secret in `text` that its name, header or sentence reveals."""
    lowered = text.lower()
    if len(lowered) != len(text):  # a few capitals outside ASCII grow when lowered
        lowered = "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
    done = 0
    for hit in _keyword_hits(lowered):
        if hit < done:
            continue
        done = _NAME_END.match(text, hit).end()  # type: ignore[union-attr]  # may be empty
        finding = _value_of_name(text, hit, done) or _sentence_finding(text, hit)
        if finding is not None:
            done = finding.end
            yield finding
    yield from _header_findings(text, lowered)
    yield from password_findings(text, lowered)
    if ("?" in text or "&" in text) and "=" in text:
        for match in _QUERY.finditer(text):
            if looks_secret(match["value"], 12):
                yield secret("url-token", *match.span("value"))


def _keyword_hits(lowered: str) -> list[int]:
    hits: list[int] = []
    for keyword in _KEYWORDS:
        position = lowered.find(keyword)
        while position >= 0:
            hits.append(position)
            position = lowered.find(keyword, position + len(keyword))
    hits.sort()
    return hits


def _name_start(text: str, hit: int) -> int:
    start, floor = hit, max(0, hit - _LONGEST_NAME)
    while start > floor and text[start - 1] in _NAME_CHARACTERS:
        start -= 1
    # In text that is still escaped, the letter after a backslash is a line end or a tab.
    if start > 0 and start < hit and text[start - 1] == "\\" and text[start] in "nrt":
        start += 1
    return start


def _value_of_name(text: str, hit: int, name_end: int) -> Finding | None:
    if text[name_end : name_end + 1] not in _OPENERS:
        return None
    start = _name_start(text, hit)
    words, sort = _classified(text[start:name_end])
    if not sort:
        return None
    opening = _opening(text, hit, name_end)
    if opening is None:
        return None
    match, certain = opening
    if not certain and not _space_separates(text, start, words, match):
        return None
    return _judge(text, match, words, password=sort == "password")


@lru_cache(maxsize=4_096)
def _classified(name: str) -> tuple[str, str]:
    words = normalised_name(name)
    if is_password_name(words):
        return words, "password"
    return words, "secret" if is_secret_name(words) else ""


def _opening(text: str, hit: int, name_end: int) -> tuple[re.Match[str], bool] | None:
    """What stands between a name and its value; False when that is only white space."""
    for pattern in (_ASSIGNED, _PAIRED):
        if match := pattern.match(text, name_end):
            return match, True
    if text[name_end : name_end + 1] == ">" and "<" in text[max(0, hit - _LONGEST_NAME) : hit]:
        element = _ELEMENT.match(text, name_end)
        return (element, True) if element else None
    spaced = _AFTER_SPACE.match(text, name_end)
    return (spaced, False) if spaced else None


def _space_separates(text: str, start: int, words: str, match: re.Match[str]) -> bool:
    """White space separates name and value after a flag, in `set NAME VALUE`, netrc and SQL."""
    before = text[max(0, start - 300) : start]
    name = text[start : match.start()]
    if name.startswith("--") or _BEFORE_FLAG.search(before[-4:]):
        return True
    if _BEFORE_SETTING.search(before[-100:]) or words in ("requirepass", "masterauth"):
        return True
    return words == "password" and bool(match["quote"] or _BEFORE_IN_NETRC.search(before))


def _judge(text: str, match: re.Match[str], words: str, *, password: bool) -> Finding | None:
    start, quote = match.end(), match["quote"]
    if words == "authorization" and (scheme := _SCHEME.match(text, start)):
        start = scheme.end()
    end = _value_end(text, start, quote)
    value = text[start:end]
    if password:
        if not looks_password(value, 6):
            return None
    elif not looks_secret(value, 12) and not (words == "auth" and is_basic(value)):
        return None
    if is_hash(value) and not is_unmistakable_name(words):
        return None
    if not quote and text[end : end + 1] in ("(", "[", "{") and _CODE_NAME.fullmatch(value):
        return None
    return secret("password" if password else _kind_of(words), start, end)


def _kind_of(words: str) -> str:
    for kind in ("token", "secret", "credentials"):
        if words.endswith(kind):
            return kind
    return "authorization" if "auth" in words and not words.endswith("key") else "key"


def _value_end(text: str, start: int, quote: str | None) -> int:
    limit = start + _LONGEST_VALUE
    if quote:
        closing = text.find(quote[-1], start, limit)
        end = closing if closing >= 0 else min(len(text), limit)
        for stop in ("\n", "\\"):
            found = text.find(stop, start, end)
            end = found if found >= 0 else end
        inner = text[start:end]
        return start + len(inner.split(None, 1)[0]) if inner.strip() and closing < 0 else end
    if _ENVIRONMENT_LINE.search(text[max(0, start - 70) : start]):
        whole = _ENVIRONMENT_VALUE.match(text, start)
        if whole and not _CALL.match(whole.group()):
            return whole.end()
    plain = _UNQUOTED.match(text, start)
    if plain is None:
        return start
    value = plain.group()
    if "&" in value:  # a form or a query goes on
        value = value.split("&", 1)[0]
    return start + len(value.rstrip(".:?"))


def _sentence_finding(text: str, hit: int) -> Finding | None:
    if not text.startswith(("ass", "ecret", "oken", "ey", "wd"), hit + 1):
        return None
    word_end = hit + 4 if text[hit : hit + 1] in "pP" else hit
    match = _SENTENCE.match(text, word_end)
    if match is None:
        return None
    start = match.start("value")
    value = match["value"].rstrip(".,;:!?)")
    if character_classes(value) < 3 or not looks_password(value, 8) or is_hash(value):
        return None
    return secret("password", start, start + len(value))


def _header_findings(text: str, lowered: str) -> Iterator[Finding]:
    position = lowered.find("bearer")
    while position >= 0:
        match = _BEARER.match(text, position + 6)
        if match and looks_secret(match["value"], 16):
            yield secret("bearer-token", *match.span("value"))
        position = lowered.find("bearer", position + 6)
    if "Basic " in text:
        for match in _BASIC.finditer(text):
            if is_basic(match["value"]):
                yield secret("basic-auth", *match.span("value"))
    position = lowered.find("identified by")
    while position >= 0:
        match = _QUOTED_WORD.match(text, position + 13)
        if match and looks_secret(match["value"], 6):
            yield secret("password", *match.span("value"))
        position = lowered.find("identified by", position + 13)


def is_basic(value: str) -> bool:
    """`value` is base64 of `user:password`."""
    try:
        decoded = base64.b64decode(value + "=" * (-len(value) % 4), validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        return False
    user, colon, word = decoded.partition(":")
    return bool(colon and user and word) and decoded.isprintable() and not is_placeholder(word)
