"""Finds text that tries to steer a later reader: hidden characters, orders, traps, broken fences.

Pure rules over one text. A finding is a reason to hold a skill back, no proof of ill will: an
installer's documented `curl … | sh` is found too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class InjectionFinding:
    """kind: short name ("hidden characters"). reason: what is wrong with text[start:end]."""

    kind: str
    start: int
    end: int
    reason: str


def findings(text: str, own_prompts: Sequence[str] = ()) -> list[InjectionFinding]:
    """Everything suspicious in `text`, by position.

    own_prompts: texts of our own prompts; a passage copied from one is found.
    """
    found = [*_hidden(text), *_patterns(text), *_open_fences(text)]
    for prompt in own_prompts:
        found += _copied(text, prompt)
    return sorted(found, key=lambda finding: (finding.start, finding.end, finding.kind))


# -- hidden characters ---------------------------------------------------------------------------

_HIDDEN = re.compile(
    r"(?P<zero>[\u200b\u200c\u200d\u2060-\u2064\ufeff\u180e]+)"
    r"|(?P<bidi>[\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c]+)"
    r"|(?P<tag>[\U000e0000-\U000e007f]+)"
    r"|(?P<selector>[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2,})"
    r"|(?P<filler>[\u115f\u1160\u3164\uffa0]+)"
    r"|(?P<control>[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f]+)"
    r"|(?P<soft>\u00ad{2,})"
)
_HIDDEN_REASONS = {
    "zero": "zero-width characters",
    "bidi": "characters that turn the direction of text",
    "tag": "tag characters, which no screen shows",
    "selector": "a run of variation selectors",
    "filler": "blank filler letters",
    "control": "control characters",
    "soft": "soft hyphens in a row",
}
_RIGHT_TO_LEFT = re.compile(r"[\u0590-\u08ff\u05d9\u05b4-\ufdff\ufe70-\ufefe]")
_JOINING_SCRIPTS = re.compile(
    r"[\u0600-\u08ff\u0900-\u0dff\u0e80-\u0fff\u1780-\u17ff\u1800-\u18af]"
)
_EMOJI = re.compile(r"[#*0-9\u00a9\u00ae\u203c-\u3299\ufe0f\u20e3\U0001f000-\U0001faff]")
_BLACK_FLAG = "\U0001f3f4"


def _hidden(text: str) -> Iterator[InjectionFinding]:
    if text.isascii() and text.isprintable():
        return
    for match in _HIDDEN.finditer(text):
        kind = match.lastgroup or ""
        if not _is_legitimate(kind, text, match):
            reason = f"holds {_HIDDEN_REASONS[kind]} that a reader does not see"
            yield InjectionFinding("hidden characters", *match.span(), reason)


def _is_legitimate(kind: str, text: str, match: re.Match[str]) -> bool:
    before, after = text[match.start() - 1 : match.start()], text[match.end() : match.end() + 1]
    if kind == "zero":
        if match.group() == "\ufeff":
            return match.start() == 0
        if match.group() in ("\u200c", "\u200d"):
            pair = _EMOJI if match.group() == "\u200d" else _JOINING_SCRIPTS
            joined = bool(pair.match(before) and pair.match(after))
            return joined or bool(_JOINING_SCRIPTS.match(before))
        return False
    if kind == "bidi" and len(match.group()) == 1 and match.group() in "\u200e\u200f\u061c":
        near = text[max(0, match.start() - 20) : match.end() + 20]
        return _RIGHT_TO_LEFT.search(near) is not None
    if kind == "tag":  # the flags of England, Scotland, Wales are spelled with them
        spelled = match.group().endswith("\U000e007f") and len(match.group()) <= 7
        return before == _BLACK_FLAG and spelled
    return False


# -- orders, traps, markers ----------------------------------------------------------------------

_FETCH = r"(?:curl|wget|iwr|irm|Invoke-WebRequest|Invoke-RestMethod|aria2c)"
_SHELL = r"(?<![\w.])(?:sudo\s+(?:-\w+\s+){0,3})?(?:env\s+)?(?:/\w+/){0,3}(?:ba|z|da|k|fi)?sh\b"
_RUN = (
    rf"(?:{_SHELL}|(?:iex|Invoke-Expression|pwsh|osascript)\b"
    r"|(?:sudo\s+)?(?:python[\d.]*|node|perl|ruby|php)(?:\s+-)?\s*(?:$|[\"'`;&)\n]))"
)
_SECRET_PLACE = (
    r"(?:~/\.ssh|\.ssh/|id_(?:rsa|ed25519|ecdsa)|\.env\b|\.netrc|\.aws/|\.npmrc|\.pypirc"
    r"|\.git-credentials"
    r"|\.kube/config|/etc/(?:passwd|shadow)|credentials\.json|\.claude/|keychain|\.gnupg"
    r"|wallet\.dat)"
)
_SECRET_THING = (
    r"(?:api[ -]?keys?|access tokens?|auth(?:entication)? tokens?|tokens|credentials|secrets"
    r"|passwords"
    r"|environment variables|env(?:ironment)? vars|ssh keys?|private keys?|cookies|session data"
    r"|conversation(?: history)?|chat history|\.env(?: files?)?)"
)

_RULES: tuple[tuple[str, str, re.Pattern[str]], ...] = tuple(
    (kind, reason, re.compile(pattern, re.IGNORECASE | re.MULTILINE))
    for kind, reason, pattern in (
        (
            "prompt override",
            "orders the reader to drop its instructions",
            r"\b(?:ignore|disregard|forget|override|bypass|discard|drop)\s+(?:(?:all|any|every"
            r"|each|your|the|these|those|of|my|our)\s+){0,4}"
            r"(?:(?:previous|prior|above|earlier|preceding|foregoing|existing|original|system"
            r"|safety|current|other)\s+){1,3}"
            r"(?:instructions?|prompts?|rules|guidelines|directions|directives|messages?|context"
            r"|constraints|policies|guardrails)",
        ),
        (
            "prompt override",
            "orders the reader to drop its instructions",
            r"\b(?:ignorier(?:e|en)?|vergiss|missachte)\b.{0,30}\b(?:anweisungen|instruktionen"
            r"|regeln)\b"
            r"|\b(?:ignore[zr]?|oublie[zr]?)\b.{0,30}\binstructions\s+(?:précédentes|antérieures"
            r"|ci-dessus)"
            r"|\b(?:ignor[ae]n?|olvid[ae])\b.{0,30}\b(?:instrucciones|instruções"
            r"|istruzioni)\b.{0,12}"
            r"(?:anteriores|previas|precedenti|acima)?"
            r"|(?:игнорируй|игнорировать|забудь)\w*.{0,30}(?:инструкци|указани|правил)\w*"
            r"|(?:忽略|无视|忘记|忽視|無視)(?:掉|了)?"
            r"(?:所有|一切|全部|之前|以上|先前|前面|上述|上面|你|的|您){1,5}(?:指令|指示|提示词|提示"
            r"|规则|規則)"
            r"|(?:指示|命令|プロンプト|ルール)を?(?:すべて|全て)?(?:無視|忘れ)"
            r"|(?:이전|위의|모든).{0,10}(?:지시|명령|지침).{0,6}(?:무시|잊)"
            r"|(?:önceki|yukarıdaki).{0,20}(?:talimat|komut)\w*.{0,20}(?:yok say|unut|görmezden)"
            r"|zignoruj.{0,30}(?:instrukcje|polecenia)|negeer.{0,30}(?:instructies|aanwijzingen)",
        ),
        (
            "prompt override",
            "poses as a message of the system or gives the reader a new role",
            r"<\|(?:im_start|im_end|system|endoftext|start_header_id)\|>|\[/?INST\]|<</?SYS>>"
            r"|</?(?:system|system-reminder|system_prompt|developer|assistant)>"
            r"|\byou are now (?:in )?(?:DAN\b|developer mode|jailbroken|unrestricted"
            r"|an? unrestricted|free of)"
            r"|\b(?:new|updated|real|actual) system prompt\s*:"
            r"|^\s{0,3}(?:#{1,4}\s*)?system (?:message|override)\s*:",
        ),
        (
            "prompt override",
            "wants something kept from the user",
            r"\b(?:do not|don['’]t|never|without)\s+(?:ever\s+)?(?:tell(?:ing)?|inform"
            r"(?:ing)?|mention(?:ing)?|reveal(?:ing)?|alert(?:ing)?|notify(?:ing)?|show"
            r"(?:ing)?|warn(?:ing)?|disclos(?:e|ing))\b"
            r"(?:\s+(?:this|it|that|about it|anything))?(?:\s+to)?\s+(?:the\s+)?(?:user|human"
            r"|person|operator|developer)\b"
            r"(?!-|\s+(?:to|that you|how|which|when|until|unless|raw|their|his))",
        ),
        (
            "prompt override",
            "tells a learner what to write into skills or memory",
            r"\b(?:when|whenever|if|before|after)\s+(?:you\s+)?(?:are\s+)?(?:sav|writ|creat|learn"
            r"|stor|distil)\w*\s+(?:a\s+|any\s+|new\s+|these\s+)?(?:skills?|memor(?:y|ies)"
            r"|rules?)\b.{0,20}"
            r"\b(?:add|include|insert|append|put|also write)\b"
            r"|\b(?:add|include|insert|append)\b.{0,40}\b(?:to|in|into)\s+(?:every|all|each"
            r"|any)\s+(?:skills?|SKILL\.md|CLAUDE\.md|memor(?:y|ies))\b",
        ),
        (
            "fetch and run",
            "runs what it has just fetched from the network",
            rf"\b{_FETCH}\b[^\n|;]{{1,300}}\|\s*(?:tee\s[^\n|]{{1,80}}\|\s*)?{_RUN}"
            rf"|{_SHELL}[^\n|;]{{0,30}}(?:<\(|\$\(|`)\s*{_FETCH}\b"
            rf"|\b(?:eval|source|\.)\s+[\"']?(?:<\(|\$\(|`)\s*{_FETCH}\b"
            rf"|\b(?:iex|Invoke-Expression)\b[^\n]{{0,40}}(?:{_FETCH}\b|DownloadString)"
            r"|DownloadString\([^\n)]{1,200}\)[^\n|]{0,20}\|\s*(?:iex|Invoke-Expression)"
            rf"|\bbase64\s+(?:-d|-D|--decode)\b[^\n|;]{{0,80}}\|\s*{_RUN}"
            rf"|\b{_FETCH}\b[^\n]{{1,200}}(?:&&|;)\s*(?:sudo\s+)?(?:chmod\s+(?:\+x|7\d\d)|(?:ba"
            rf"|z)?sh\s+(?!-c)[\w./-]+)",
        ),
        (
            "exfiltration",
            "sends secrets away",
            rf"\b(?:nc|ncat|netcat|scp|rsync|ftp)\b[^\n]{{0,200}}{_SECRET_PLACE}"
            r"|\b(?:curl|wget|Invoke-\w+)\b[^\n]{0,200}(?:\s-[dFT]|--data|--upload|--post|-InFile"
            rf"|-Body)[^\n]{{0,120}}{_SECRET_PLACE}"
            rf"|{_SECRET_PLACE}[^\n]{{0,60}}\|\s*(?:base64[^\n|]{{0,20}}\|\s*)?(?:curl|wget|nc"
            rf"|ncat|netcat)\b"
            r"|\b(?:env|printenv|set|history)\s*(?:\|[^\n|]{0,40}){0,2}\|\s*(?:curl|wget|nc|ncat)\b"
            r"|\b(?:curl|wget)\b[^\n]{0,200}(?:-d|--data\S*|-F|-T|--post-data)[^\n]{0,40}"
            r"(?:\$\(\s*(?:cat|env|printenv|base64)|`(?:cat|env|printenv))"
            r"|\b(?:nslookup|dig|ping)\b[^\n]{0,60}\$\([^\n)]{1,80}\)\.[\w.-]+",
        ),
        (
            "exfiltration",
            "asks to send secrets away",
            rf"\b(?:send|post|upload|exfiltrate|forward|e-?mail|leak|transmit|report|submit"
            rf"|copy)\b(?:\s+\w+){{0,3}}\s+{_SECRET_THING}\s+(?:\w+\s+){{0,4}}(?:to|at)\s+\S*"
            rf"(?:https?://|@\w|webhook|server|endpoint)"
            rf"|!\[[^\]\n]{{0,80}}\]\(https?://[^)\s]{{0,200}}[?&][\w-]+=[^)\s]{{0,40}}(?:\{{|\$"
            rf"|<)[^)\s]{{0,40}}(?:token|secret|key|env|data|history)",
        ),
        (
            "our own markers",
            "holds the marker of a block that only skill-learner writes",
            r"<!--\s*/?\s*(?:begin\s+|end\s+)?skill-learner\b"
            r"|</?(?:session-digest|existing-skill|hints)(?:-[0-9a-f]{4,64})?>",
        ),
        (
            "our own prompt",
            "repeats or addresses skill-learner's own review",
            r"\bsubmit_review\b|\bnothing_because\b"
            r"|\b(?:skill-learner|skill reviewer|session reviewer)\b[^\n]{0,40}\b(?:must|shall"
            r"|should|always|is instructed)\b"
            r"|\breviewer of coding sessions that are over\b",
        ),
    )
)


def _patterns(text: str) -> Iterator[InjectionFinding]:
    for kind, reason, pattern in _RULES:
        for match in pattern.finditer(text):
            yield InjectionFinding(kind, *match.span(), reason)


# -- fences --------------------------------------------------------------------------------------

_FENCE = re.compile(
    r"^[ ]{0,3}(?:[-*+]|\d{1,3}[.)])?[ \t]{0,8}(?P<mark>`{3,}|~{3,})(?P<info>"
    r"[^\n]*)$",
    re.MULTILINE,
)


def _open_fences(text: str) -> Iterator[InjectionFinding]:
    """A code fence or an HTML comment that is opened and never closed swallows what follows."""
    opened: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        if opened is None:
            if "`" not in fence["info"]:
                opened = fence
        elif (
            fence["mark"][0] == opened["mark"][0]
            and len(fence["mark"]) >= len(opened["mark"])
            and not fence["info"].strip()
        ):
            opened = None
    if opened is not None:
        yield InjectionFinding(
            "open fence", *opened.span(), "opens a code block and never closes it"
        )
    comment = text.rfind("<!--")
    if comment < 0 or "-->" in text[comment:] or opened is not None:
        return
    if text.count("`", 0, comment) % 2 == 0:  # not within a code span
        yield InjectionFinding(
            "open fence", comment, comment + 4, "opens a comment and never closes it"
        )


# -- our own prompts -----------------------------------------------------------------------------

_WORD = re.compile(r"\w+")
_COPIED_WORDS = 12


def _copied(text: str, prompt: str) -> Iterator[InjectionFinding]:
    words = [word.lower() for word in _WORD.findall(prompt)]
    passages = {tuple(words[i : i + _COPIED_WORDS]) for i in range(len(words) - _COPIED_WORDS + 1)}
    mine = list(_WORD.finditer(text))
    plain = [match.group().lower() for match in mine]
    position = 0
    while position <= len(plain) - _COPIED_WORDS:
        if tuple(plain[position : position + _COPIED_WORDS]) in passages:
            last = position + _COPIED_WORDS - 1
            yield InjectionFinding(
                "our own prompt",
                mine[position].start(),
                mine[last].end(),
                "is copied from skill-learner's own prompt",
            )
            position += _COPIED_WORDS
        else:
            position += 1
