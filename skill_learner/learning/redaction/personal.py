"""Who and where somebody is: e-mail addresses, home folders, user and host names."""

from __future__ import annotations

import re
from collections.abc import Iterator

from skill_learner.learning.redaction.finding import Finding

USER, HOST, EMAIL = "<user>", "<host>", "<email>"

_EVERYBODY = frozenset(
    "appuser nonroot worker builder webapp django rails code repo repos sandboxuser"
    " root user users username dev developer admin administrator ubuntu debian fedora centos"
    " alpine arch runner runneradmin vscode node app www-data git postgres mysql redis nginx"
    " apache nobody daemon bin sys staff wheel docker jenkins circleci travis linuxbrew jovyan"
    " vagrant ec2-user azureuser coder codespace gitpod pi guest test tester me you name owner"
    " group someone public shared default home work project projects system service local"
    " localhost host server build deploy ci bot email secret token key password claude cursor"
    " copilot codex agent assistant github gitlab none null all true false macbook desktop laptop"
    " container sandbox workspace your_name yourname your-name your-user youruser myuser".split()
)
"""Names that tell nobody apart, or that other words of a session are made of."""

_AMBIGUOUS = frozenset(
    "max mark will art guy bill may june april grant frank rich pat dash ruby java rust perl dart"
    " swift python basic script main core lib src data file code run set get new old end log net"
    " web api cli sql css html json yaml time date list map key val tag ref red blue green dean"
    " chase rob jack drew sky sunny faith hope joy grace iris ivy rose lily"
    " penny robin miles".split()
)
"""Names that are also words: replaced where they stand as a name, nowhere else."""

_CONTAINER_HOMES = frozenset(
    "node app linuxbrew runner runneradmin vscode jovyan circleci coder gitpod codespace postgres"
    " git shared public default all".split()
)

_NAME = r"[A-Za-z0-9_][\w.-]{0,63}"
_HOME = re.compile(
    r"[\\/](?:home|[Uu]sers|Documents and Settings)[\\/]{1,4}"
    r"(?P<name>[A-Za-z0-9_À-ɏ][\wÀ-ɏ.-]{0,63}"
    r"(?:[ ][A-Za-zÀ-ɏ][\wÀ-ɏ.-]{0,40}(?=\\))?)"
)
_DRIVE = re.compile(r"(?<![A-Za-z0-9])[A-Za-z]:[\\/]{0,3}$|(?:/mnt|/cygdrive)?/[a-z]$|\\{1,3}$")
_SLUG = re.compile(r"(?<![A-Za-z0-9])-(?:home|Users)-(?P<name>[A-Za-z0-9_]{1,40})")
_PROMPT_HOST = re.compile(
    r"(?P<host>[A-Za-z0-9][\w.-]{0,60})"
    r"(?=(?::[^\s$#%]{0,120}|[ ][^\s$#%@]{1,80}|\]?)?[\])]?[ ]?[$#%][ ]|:[~/][^\s]{0,120}[$#])"
)
_GIT_AUTHOR = re.compile(
    r"(?:(?<![A-Za-z])(?:Author|Commit|Committer|Tagger):[ \t]{1,10}"
    r"|(?:^|\\n)(?:author|committer|tagger)[ ])"
    r"(?P<name>[^\n<>\\:,{}()\"]{2,60}?)[ \t]{1,4}<(?=[^\s<>]{1,100}>)",
    re.MULTILINE,
)
_TRAILER = re.compile(
    r"(?:Signed-off|Co-authored|Co-Authored|Reviewed|Acked|Tested|Reported)-[Bb]y:[ \t]{1,4}"
    r"(?P<name>[^\n<>\\]{2,60}?)[ \t]{1,4}<"
)
_GIT_CONFIG = re.compile(
    r"\[user\](?:\s|\\[nrt]){1,20}"
    r"(?:[a-z]{1,20}[ \t]{0,4}=[^\n\\]{0,200}(?:\s|\\[nrt]){1,20}){0,4}?"
    r"name[ \t]{0,4}=[ \t]{0,4}\"?(?P<name>[^\n\"\\]{2,60})"
)
_GIT_SETTING = re.compile(
    r"user\.name(?:[ \t]{0,4}=[ \t]{0,4}|[ \t]{1,4})(?P<quote>\\{0,3}[\"'])?"
    r"(?P<name>(?(quote)[^\n\"'\\]{2,60}|[\w.-]{2,60}(?:[ ][A-Z][\w.-]{1,40}){0,3}))"
)
_LISTING = re.compile(
    r"[-dlbcps][-r][-w][-xsS][-r][-w][-xsS][-r][-w][-xtT][@+.]?[ \t]{1,8}\d{1,6}[ \t]{1,8}"
    rf"(?P<user>{_NAME})[ \t]{{1,20}}(?P<group>{_NAME})(?=[ \t]{{1,20}}\d)"
)
_ENVIRONMENT_USER = re.compile(
    rf"(?<![A-Za-z0-9_])(?:USER|LOGNAME|USERNAME|SUDO_USER)=(?P<name>{_NAME})|uid=\d{{1,10}}\((?P<id>{_NAME})\)"
    rf"|Logged in to \S{{1,60}} (?:as|account) (?P<login>{_NAME})"
)
_LOCAL_PART = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._%+-")
_DOMAIN = re.compile(
    r"(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,62})\.){1,6}(?P<top>[A-Za-z]{2,24})(?![A-Za-z0-9_-]|\.[A-Za-z0-9])"
)
_NOT_TOP = frozenset(
    "png jpg jpeg gif svg webp ico js mjs cjs ts jsx tsx vue css scss html htm json md mdx py pyc"
    " rb go rs java kt swift sh bash zsh yml yaml toml lock txt log service timer socket target"
    " mount tgz gz zip tar whl jar so dll exe local test internal example invalid".split()
)
_NOBODY = re.compile(
    r"(?:no-?reply|do-?not-?reply|git|example|user|users?name|you|your[._-]?\w*|name|someone)", re.I
)
_EXAMPLE_DOMAIN = re.compile(r"(?:[\w-]+\.)*(?:example\.(?:com|org|net)|test|localhost)", re.I)


def personal_findings(text: str) -> Iterator[Finding]:
    """E-mails, home folders and names in `text`; names that tell somebody apart are to be
    remembered, so that they go everywhere."""
    if "@" in text:
        yield from _addresses(text)
    if "ome/" in text or "sers" in text or "ettings" in text or "ome\\" in text:
        yield from _homes(text)
    if "-home-" in text or "-Users-" in text:
        for match in _SLUG.finditer(text):
            yield from _name(match, "name", USER)
    if "r-" in text or "rw" in text:
        for match in _LISTING.finditer(text):
            yield from _name(match, "user", USER)
            if match["group"] == match["user"]:
                yield from _name(match, "group", USER)
    for pattern in _stating(text):
        for match in pattern.finditer(text):
            yield from _name(match, match.lastgroup or "name", USER)


def _stating(text: str) -> Iterator[re.Pattern[str]]:
    """The patterns of `Author: NAME` and its kin that may match in `text`."""
    if " <" in text:
        if "uthor" in text or "ommit" in text or "agger" in text:
            yield _GIT_AUTHOR
        if "y: " in text:
            yield _TRAILER
    if "[user]" in text:
        yield _GIT_CONFIG
    if "user.name" in text:
        yield _GIT_SETTING
    if "USER" in text or "LOGNAME" in text or "uid=" in text or "Logged in" in text:
        yield _ENVIRONMENT_USER


def _name(match: re.Match[str], group: str, replacement: str) -> Iterator[Finding]:
    name = match[group]
    plain = name.strip().lower()
    if plain in _EVERYBODY or plain.startswith(("claude", "github-actions", "dependabot")):
        return
    if "~" in plain or "<" in plain:  # what has been replaced already
        return
    kind = "host" if replacement == HOST else "user"
    yield Finding(kind, *match.span(group), replacement, is_telling(name), personal=True)


def is_telling(name: str) -> bool:
    """Whether `name` may be replaced wherever it stands without harming other words."""
    plain = name.lower()
    return len(name) >= 4 and plain not in _EVERYBODY and plain not in _AMBIGUOUS


def _homes(text: str) -> Iterator[Finding]:
    for match in _HOME.finditer(text):
        name = match["name"].rstrip(".")  # the end of a sentence is no part of a name
        name_end = match.start("name") + len(name)
        start = _home_start(text, match.start())
        if start is None or name.lower() in _CONTAINER_HOMES or _is_in_url(text, start):
            continue
        if match.group().startswith("/users") and start == match.start():
            continue  # a route of a web service; Windows writes a drive in front
        yield Finding("home-path", start, name_end, "~", remember=False, personal=True)
        if is_telling(name):
            yield Finding("user", match.start("name"), name_end, USER, personal=True)


def _home_start(text: str, slash: int) -> int | None:
    """Where the path begins that has its homes at `slash`; None when it is within another path."""
    floor = max(0, slash - 16)
    drive = _DRIVE.search(text, floor, slash)
    if drive:
        return drive.start()
    before = text[slash - 1 : slash]
    if before and (before.isalnum() or before in "_.~}"):
        # An option and its path may touch (`-I/home/…`).
        return slash if text[max(0, slash - 2) : slash - 1] == "-" else None
    return slash


def _is_in_url(text: str, start: int) -> bool:
    before = text[max(0, start - 200) : start]
    word = re.split(r"[\s\"'`(<]", before)[-1]
    return "://" in word and not word.endswith("file://") and not word.startswith("vscode")


def _addresses(text: str) -> Iterator[Finding]:
    """E-mail addresses, and users and hosts of shell prompts."""
    at = text.find("@")
    while at >= 0:
        start, floor = at, max(0, at - 64)
        while start > floor and text[start - 1] in _LOCAL_PART:
            start -= 1
        if start > 0 and start < at and text[start - 1] == "\\" and text[start] in "nrt":
            start += 1
        if start < at:
            finding = _email(text, start, at)
            if finding is not None:
                yield finding
            else:
                yield from _prompt(text, start, at)
        at = text.find("@", at + 1)


def _prompt(text: str, start: int, at: int) -> Iterator[Finding]:
    host = _PROMPT_HOST.match(text, at + 1)
    if host is None or "://" in text[max(0, start - 3) : start]:
        return
    user = text[start:at]
    if user.lower() not in _EVERYBODY:
        yield Finding("user", start, at, USER, is_telling(user), personal=True)
    yield from _name(host, "host", HOST)


def _email(text: str, start: int, at: int) -> Finding | None:
    domain = _DOMAIN.match(text, at + 1)
    if domain is None or domain["top"].lower() in _NOT_TOP:
        return None
    local = text[start:at].lstrip(".%+-")
    if not local or _NOBODY.fullmatch(local) or _EXAMPLE_DOMAIN.fullmatch(domain.group()):
        return None
    if text[start - 1 : start] in ("/", ":") and "://" in text[max(0, start - 40) : start]:
        return None  # the user of a URL, which the URL's own rule judges
    return Finding("email", at - len(local), domain.end(), EMAIL, personal=True)
