"""Secrets that the text around them gives away: URLs, keys in PEM, command lines, cookies."""

from __future__ import annotations

import re
from collections.abc import Iterator

from skill_learner.learning.redaction.allow_list import is_placeholder, is_plain, looks_secret
from skill_learner.learning.redaction.finding import Finding, secret


def structure_findings(text: str) -> Iterator[Finding]:
    """Every secret in `text` that its surroundings reveal."""
    if "://" in text:
        yield from _url_findings(text)
    if "PRIVATE KEY" in text:
        yield from _private_key_findings(text)
    if " -" in text:
        yield from _flag_findings(text)
    if "ookie" in text or "OOKIE" in text:
        yield from _cookie_findings(text)
    if ":" in text:
        yield from _pgpass_findings(text)
    if '"d' in text and "kty" in text:
        yield from _jwk_findings(text)


# -- URLs ----------------------------------------------------------------------------------------

_AUTHORITY = re.compile(
    r"""(?P<user>[^\s/:@"'<>`\\]{0,400})(?::(?P<password>[^\s/"'<>`\\]{1,400}))?@(?=[\w\[{$*.-])"""
)


def _url_findings(text: str) -> Iterator[Finding]:
    position = text.find("://")
    while position >= 0:
        match = _AUTHORITY.match(text, position + 3)
        if match:
            yield from _credentials(match)
        position = text.find("://", position + 3)


def _credentials(match: re.Match[str]) -> Iterator[Finding]:
    user, password = match["user"], match["password"]
    if password is None or password.startswith("x-oauth"):
        if len(user) >= 16 and looks_secret(user, 16):
            yield secret("url-token", *match.span("user"))
        return
    if password == user or is_placeholder(password) or len(password) < 3:
        return
    yield secret("url-password", *match.span("password"))
    if len(user) >= 20 and looks_secret(user, 20):
        yield secret("url-token", *match.span("user"))


# -- private keys --------------------------------------------------------------------------------

_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,24}PRIVATE KEY(?: BLOCK)?-----")
_END = re.compile(r"-----END [A-Z0-9 ]{0,24}PRIVATE KEY(?: BLOCK)?-----")
_LINE_END = re.compile(r"\r?\n|(?:\\{1,4}[nr])+")
_PREFIX = re.compile(r"[ \t>|#*/+\"'-]{0,40}(?:\d{1,6}(?:→|\t|:|[ ]\|))?[ \t>|\"'+]{0,40}")
_BODY = re.compile(r"[A-Za-z0-9+/=]{1,128}[\"',\\ \t+]{0,8}")
_ARMOUR_HEADER = re.compile(
    r"(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset|MessageID)\b[^\n\\]{0,200}"
)
_LONGEST_KEY = 24_000
_LONGEST_LINE = 400


def _private_key_findings(text: str) -> Iterator[Finding]:
    """Bodies of private keys, also those cut off before their end or after their beginning."""
    position = 0
    while begin := _BEGIN.search(text, position):
        end = _key_end(text, begin.end())
        position = max(end, begin.end())
        yield from _key_body(text, begin.end(), end)
    for closing in _END.finditer(text):
        if position < closing.start():
            start = _key_start(text, closing.start(), floor=position)
            yield from _key_body(text, start, closing.start())
        position = max(position, closing.end())


def _key_body(text: str, start: int, end: int) -> Iterator[Finding]:
    body = text[start:end]
    if any(len(run) >= 20 for run in re.split(r"[^A-Za-z0-9+/=]", body)):
        lead = len(body) - len(body.lstrip())
        tail = len(body) - len(body.rstrip())
        yield secret("private-key", start + lead, end - tail)


def _is_key_line(line: str) -> bool:
    """A line of base64; a short one of letters alone is a word."""
    if not _BODY.fullmatch(line):
        return False
    core = line.strip("\"',\\ \t+")
    return len(core) >= 40 or not is_plain(core)


def _closes_next(text: str, line_end: re.Match[str] | None) -> bool:
    if line_end is None:
        return False
    return text[line_end.end() : line_end.end() + 60].lstrip(" \t>|\"'+").startswith("-----END")


def _key_end(text: str, start: int) -> int:
    """The end of the run of key lines that begins at `start`."""
    position, last, limit = start, start, min(len(text), start + _LONGEST_KEY)
    while position < limit:
        line_end = _LINE_END.search(text, position, min(limit, position + _LONGEST_LINE + 2))
        stop = min(line_end.start() if line_end else limit, position + _LONGEST_LINE)
        body_start = _PREFIX.match(text, position, stop).end()  # type: ignore[union-attr]
        rest = text[body_start:stop]
        if _is_key_line(rest) or (rest.isalnum() and _closes_next(text, line_end)):
            last = body_start + len(rest.rstrip("\"',\\ \t+"))
        elif rest and not _ARMOUR_HEADER.fullmatch(rest):
            partial = _BODY.match(rest)
            return body_start + partial.end() if partial and partial.end() >= 40 else last
        if line_end is None or stop < line_end.start():
            break
        position = line_end.end()
    return last


def _key_start(text: str, end: int, floor: int) -> int:
    """The beginning of the run of key lines that stops at `end`, where a marker closes the key."""
    low = max(floor, end - _LONGEST_KEY)
    start = end
    breaks = list(_LINE_END.finditer(text, low, end))
    line_stop = end
    for line_end in reversed(breaks):
        line = text[line_end.end() : line_stop]
        rest = line[_PREFIX.match(line).end() :]  # type: ignore[union-attr]  # may be empty
        if rest and not _is_key_line(rest):
            return start
        start, line_stop = line_end.end(), line_end.start()
    first = text[low:line_stop]
    return low if _is_key_line(first.strip()) else start


# -- command lines -------------------------------------------------------------------------------

_FLAG = re.compile(
    r""" -(?P<flag>[upbawP]|-user|-proxy-user|-cookie)(?P<gap>[ =]{0,3})(?:\\{0,3}["'])?"""
    r"""(?P<value>[^\s"'\\]{1,2000})"""
)
_PASSWORD_COMMANDS = {
    "p": re.compile(
        r"\b(?:mysql\w*|mariadb[\w-]*|sshpass|mongo\w*|7z[az]?|smbclient"
        r"|(?:docker|podman|az|helm|buildah|oras|skopeo|nerdctl|crane|oc|cf|mc|vault)\b.{0,120}\blogin)\b"
    ),
    "P": re.compile(r"\b(?:zip|unzip|sqlcmd|isql|mosquitto_\w+)\b"),
    "a": re.compile(r"\bredis-cli\b"),
    "w": re.compile(r"\bldap\w+\b"),
}
_USER = re.compile(r"[\w.@\\-]{1,80}")
_CURL = re.compile(r"\b(?:curl|wget|https?|xh)\b")
_PASS_ARGUMENT = re.compile(r"-pass(?:in|out)?[ =]\\{0,3}[\"']?pass:(?P<value>[^\s\"'\\]{4,200})")


def _flag_findings(text: str) -> Iterator[Finding]:
    for match in _FLAG.finditer(text):
        line_start = max(text.rfind("\n", 0, match.start()), match.start() - 600, 0)
        command = text[line_start : match.start()]
        yield from _flag_value(match, command)
    if "pass:" in text:
        for match in _PASS_ARGUMENT.finditer(text):
            if not is_placeholder(match["value"]):
                yield secret("password", *match.span("value"))


def _flag_value(match: re.Match[str], command: str) -> Iterator[Finding]:
    flag, value = match["flag"], match["value"]
    start = match.start("value")
    if flag in _PASSWORD_COMMANDS:
        if _PASSWORD_COMMANDS[flag].search(command) and looks_secret(value, 4):
            yield secret("password", start, start + len(value))
    elif flag in ("b", "-cookie"):
        if _CURL.search(command):
            yield from _crumbs(match.string, start, start + len(value))
    elif _CURL.search(command):
        user, _, password = value.partition(":")
        if (
            _USER.fullmatch(user)
            and len(password) >= 3
            and not is_placeholder(password)
            and password != user
        ):
            yield secret("password", start + len(user) + 1, start + len(value))


# -- cookies, password files, keys in JSON -------------------------------------------------------

_COOKIE = re.compile(
    r"(?:[Cc]ookie|COOKIE)\\{0,3}[\"']?[ \t]{0,4}[:=][ \t]{0,4}\\{0,3}[\"']?"
    r"(?P<crumbs>[^\n\"'\\]{1,4000})"
)
_CRUMB = re.compile(
    r"(?<![\w.-])[\w.-]{0,40}?(?:sess|sid|auth|token|jwt|csrf|xsrf|remember|login|secret|key)[\w.-]{0,40}="
    r"(?P<value>[^;\s\"'\\]{8,4000})",
    re.I,
)


def _cookie_findings(text: str) -> Iterator[Finding]:
    for match in _COOKIE.finditer(text):
        yield from _crumbs(text, *match.span("crumbs"))


def _crumbs(text: str, start: int, end: int) -> Iterator[Finding]:
    for crumb in _CRUMB.finditer(text, start, end):
        value = crumb["value"]
        if not is_placeholder(value) and not is_plain(value):
            yield secret("cookie", *crumb.span("value"))


def _pgpass_findings(text: str) -> Iterator[Finding]:
    for port in _PORT.finditer(text):
        start = port.start()
        floor = max(0, start - 80)
        while start > floor and (text[start - 1].isalnum() or text[start - 1] in ".-_*"):
            start -= 1
        if text[start - 1 : start] == "\\" and text[start] in "nrt":
            start += 1
        match = _PGPASS_LINE.match(text, start)
        if match and looks_secret(match["value"], 6):
            yield secret("password", *match.span("value"))


_PORT = re.compile(r":(?:\d{4,5}|\*):")
_PGPASS_LINE = re.compile(
    r"[\w.*-]{1,80}:(?:\d{4,5}|\*):[\w*-]{1,60}:[\w*-]{1,60}:(?P<value>[^\s:\"'\\]{6,128})(?=\s|$|\\n|[\"'])"
)

_JWK_PRIVATE = re.compile(
    r"\\{0,3}\"(?:d|p|q|dp|dq|qi|k)\\{0,3}\"\s{0,4}:\s{0,4}\\{0,3}\"(?P<value>[A-Za-z0-9_-]{22,1024})"
)


def _jwk_findings(text: str) -> Iterator[Finding]:
    for match in _JWK_PRIVATE.finditer(text):
        yield secret("private-key", *match.span("value"))
