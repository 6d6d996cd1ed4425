"""Texts of skills and of queries, taken apart for an index."""

from __future__ import annotations

import re

from skill_learner.interfaces import IndexDocument
from skill_learner.models import Skill
from skill_learner.search.stop_words import STOP_WORDS

_BODY_CAP = 100_000
_QUERY_CAP = 20_000
_FENCE = re.compile(r"^[ \t]*(```|~~~)[^\n]*\n(.*?)(?:^[ \t]*\1[^\n]*$|\Z)", re.M | re.S)
_CAMEL_WORD = re.compile(r"\b[A-Za-z0-9]*[a-z0-9][A-Z][A-Za-z0-9]*\b")
_CAMEL_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_CJK_RUN = re.compile(f"[{_CJK}]+")
_WORD = re.compile(rf"(?:(?![{_CJK}])[^\W_])+")
_HIDDEN = re.compile(
    "[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\U000e0000-\U000e007f]"
)


def document_of(skill: Skill, key: str, stamp: str) -> IndexDocument:
    """A skill as texts for an index. Hidden characters are left out, and so is what lies beyond
    the first 100,000 characters of a body."""
    body = _HIDDEN.sub("", skill.body[:_BODY_CAP])
    description = _HIDDEN.sub("", skill.description)
    code = "\n".join(match.group(2) for match in _FENCE.finditer(body))
    prose = _FENCE.sub("\n", body)
    triggers = "\n".join(
        [skill.trigger_key]
        + [value for key_, value in skill.metadata.items() if key_.endswith("triggers")]
    )
    spoken = f"{skill.name}\n{description}\n{triggers}\n{prose}"
    return IndexDocument(
        key=key,
        stamp=stamp,
        content_hash=f"{skill.content_hash}/{skill.state}/{skill.scope}",
        state=skill.state,
        scope=skill.scope,
        name=skill.name,
        description=description,
        triggers=triggers,
        prose=prose,
        code=code,
        parts=" ".join(camel_parts(f"{description}\n{body}")),
        bigrams=" ".join(bigrams(spoken)),
    )


def query_words(text: str) -> list[str]:
    """The words of a query that carry meaning, lower-case, each once: no stop words and no single
    characters, unless there is nothing else. Code words also give their parts."""
    text = _HIDDEN.sub("", _capped(text))
    words = list(dict.fromkeys(word.lower() for word in _WORD.findall(text)))
    words += [part for part in dict.fromkeys(camel_parts(text)) if part not in words]
    telling = [word for word in words if word not in STOP_WORDS and len(word) > 1]
    return telling or words


def query_bigrams(text: str) -> list[str]:
    """The character pairs of a query's runs of Chinese, Japanese or Korean, each once."""
    return list(dict.fromkeys(bigrams(_capped(text))))


def _capped(text: str) -> str:
    """A long prompt is mostly pasted; what is asked stands at its beginning or its end."""
    if len(text) <= _QUERY_CAP:
        return text
    return text[: _QUERY_CAP // 2] + "\n" + text[-_QUERY_CAP // 2 :]


def camel_parts(text: str) -> list[str]:
    """The words inside camelCase words, lower-case: `parseHTTPHeader` gives parse, http, header."""
    return [
        part.lower()
        for word in _CAMEL_WORD.findall(text)
        for part in _CAMEL_PART.findall(word)
        if len(part) > 1
    ]


def bigrams(text: str) -> list[str]:
    pairs: list[str] = []
    for run in _CJK_RUN.findall(text):
        pairs += [run] if len(run) == 1 else [run[i : i + 2] for i in range(len(run) - 1)]
    return pairs
