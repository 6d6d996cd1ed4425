"""Skills as documents for an index."""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache

from skill_learner.interfaces import IndexDocument
from skill_learner.models import Skill
from skill_learner.ranking.score import TRIGGER_BEGINS, TRIGGER_ENDS
from skill_learner.ranking.words import stem, stems_of

_BODY_CAP = 9_000
_SUMMARY_CAP = 200
_HASH = 24
_FENCE = re.compile(r"^[ \t]*(```|~~~)[^\n]*\n(.*?)(?:^[ \t]*\1[^\n]*$|\Z)", re.M | re.S)
_CAMEL_WORD = re.compile(r"\b[A-Za-z0-9]*[a-z0-9][A-Z][A-Za-z0-9]*\b")
_CAMEL_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_CJK_RUN = re.compile(f"[{_CJK}]+")
_HIDDEN = re.compile(
    "[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\U000e0000-\U000e007f]"
)
_SENTENCE_END = re.compile(r"(?<=[.!?\u3002\uff01\uff1f;\uff1b])\s*|\n")
_TRIGGER = re.compile(
    r"\b(?:use (?:this|when|for|if|it|proactively)|when (?:the )?user|trigger|whenever"
    r"|asks?|says?|mentions?)\b|\u7528\u4e8e|\u4f7f\u7528|\u5f53|\u89e6\u53d1",
    re.IGNORECASE,
)

_cached_stem = lru_cache(maxsize=50_000)(stem)


def document_of(skill: Skill, key: str, stamp: str) -> IndexDocument:
    """A skill as texts for an index. Hidden characters are left out, and so is what lies beyond
    the first 9,000 characters of a body: more finds hardly more, at twice the size."""
    body = without_hidden(skill.body[:_BODY_CAP])
    description = without_hidden(skill.description)
    prose, code = prose_and_code(body)
    triggers = "\n".join(
        [skill.trigger_key]
        + [value for key_, value in skill.metadata.items() if key_.endswith("triggers")]
    )
    asks = "\n".join(skill.asks)
    spoken = f"{skill.name}\n{description}\n{triggers}\n{asks}\n{prose}"
    asked = hashlib.sha256(asks.encode("utf-8", "replace")).hexdigest()[:8] if asks else ""
    return IndexDocument(
        key=key,
        stamp=stamp,
        content_hash=f"{skill.content_hash[:_HASH]}{asked}/{skill.state}/{skill.scope}",
        state=skill.state,
        scope=skill.scope,
        name=skill.name,
        description=description,
        triggers=triggers,
        asks=asks,
        prose=prose,
        code=code,
        parts=" ".join(dict.fromkeys(camel_parts(f"{description}\n{body}"))),
        bigrams=" ".join(bigrams(spoken)),
        head=head_of(skill.name, description, triggers, skill.asks),
        summary=description[:_SUMMARY_CAP],
    )


def head_of(name: str, description: str, triggers: str, asks: tuple[str, ...]) -> str:
    """The short texts as lines of stems, see `ranking.score.HEAD_LINES`."""
    told: list[str] = []
    for sentence in _SENTENCE_END.split(description):
        stems = stems_of(sentence, _cached_stem)
        told += [TRIGGER_BEGINS, *stems, TRIGGER_ENDS] if _TRIGGER.search(sentence) else stems
    others = (" ".join(stems_of(line, _cached_stem)) for line in (triggers, *asks))
    return "\n".join([" ".join(stems_of(name, _cached_stem)), " ".join(told), *others])


def without_hidden(text: str) -> str:
    return text if text.isascii() else _HIDDEN.sub("", text)


def prose_and_code(body: str) -> tuple[str, str]:
    """A body's text outside its fenced blocks, and inside them."""
    prose, code, end = [], [], 0
    for match in _FENCE.finditer(body):
        prose.append(body[end : match.start()])
        code.append(match.group(2))
        end = match.end()
    prose.append(body[end:])
    return "\n".join(prose), "\n".join(code)


def camel_parts(text: str) -> list[str]:
    """The words inside camelCase words, lower-case: `parseHTTPHeader` gives parse, http, header."""
    humped = [
        token
        for token in dict.fromkeys(text.split())
        if not token.islower() and not token[1:].islower() and not token.isupper()
    ]
    return [
        part.lower()
        for word in _CAMEL_WORD.findall(" ".join(humped))
        for part in _CAMEL_PART.findall(word)
        if len(part) > 1
    ]


def bigrams(text: str) -> list[str]:
    """The character pairs of a text's runs of Chinese, Japanese or Korean."""
    pairs: list[str] = []
    for run in () if text.isascii() else _CJK_RUN.findall(text):
        pairs += [run] if len(run) == 1 else [run[i : i + 2] for i in range(len(run) - 1)]
    return pairs
