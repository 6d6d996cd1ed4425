"""Skills as documents for an index."""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache

from skill_learner.characters import beyond_ascii, without_hidden
from skill_learner.interfaces import IndexDocument
from skill_learner.models import Skill
from skill_learner.ranking.score import TRIGGER_BEGINS, TRIGGER_ENDS
from skill_learner.ranking.words import stem, stems_of

_BODY_CAP = 9_000
_SUMMARY_CAP = 200
_HASH = 24
_FENCE = re.compile(r"\n[ \t]*(```|~~~)")
_CAMEL_WORD = re.compile(r"\b[A-Za-z0-9]*[a-z0-9][A-Z][A-Za-z0-9]*\b")
_CAMEL_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_CJK_RUN = re.compile(f"[{_CJK}]+")
_SENTENCE_END = re.compile(r"(?<=[.!?\u3002\uff01\uff1f;\uff1b])\s*|\n")
_TRIGGER = re.compile(
    r"\b(?:use (?:this|when|for|if|it|proactively)|when (?:the )?user|trigger|whenever"
    r"|asks?|says?|mentions?)\b|\u7528\u4e8e|\u4f7f\u7528|\u5f53|\u89e6\u53d1",
    re.IGNORECASE,
)

_HUMP = b"aA"
_cached_stem = lru_cache(maxsize=50_000)(stem)


def _shape(character: str) -> str:
    if character.isspace():
        return " "
    if "a" <= character <= "z" or "0" <= character <= "9":
        return "a"
    return "A" if "A" <= character <= "Z" else "."


_SHAPES = "".join(map(_shape, map(chr, range(128)))).encode("ascii") + b"." * 128
"""What each byte of a text is: blank, small letter or digit, capital, or anything else."""


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


def prose_and_code(body: str) -> tuple[str, str]:
    """A body's text outside its fenced blocks, and inside them."""
    prose, code = [], []
    end, closing = 0, ""
    for fence in _FENCE.finditer("\n" + body):
        line = fence.start()
        line_end = body.find("\n", line)
        if not closing:
            if line_end < 0:
                break
            prose.append(body[end:line])
            end, closing = line_end + 1, fence[1]
        elif fence[1] == closing:
            code.append(body[end:line])
            end, closing = line_end if line_end >= 0 else len(body), ""
    if closing:
        code.append(body[end:])
        end = len(body)
    prose.append(body[end:])
    return "\n".join(prose), "\n".join(code)


def camel_parts(text: str) -> list[str]:
    """The words inside camelCase words, lower-case: `parseHTTPHeader` gives parse, http, header."""
    humped = [token for token in _humped_tokens(text) if not token.isupper()]
    return [
        part.lower()
        for word in _CAMEL_WORD.findall(" ".join(humped))
        for part in _CAMEL_PART.findall(word)
        if len(part) > 1
    ]


def _humped_tokens(text: str) -> list[str]:
    """The tokens between blanks that have a capital after a small letter or digit, each once.
    Found in the text's shapes, since few tokens of thousands have one."""
    data = text.encode("utf-8", "surrogatepass")
    shapes = data.translate(_SHAPES)
    tokens: dict[bytes, None] = {}
    hump = shapes.find(_HUMP)
    while hump >= 0:
        start, end = shapes.rfind(b" ", 0, hump) + 1, shapes.find(b" ", hump)
        end = end if end >= 0 else len(shapes)
        tokens[data[start:end]] = None
        hump = shapes.find(_HUMP, end)
    return b" ".join(tokens).decode("utf-8", "surrogatepass").split()


def bigrams(text: str) -> list[str]:
    """The character pairs of a text's runs of Chinese, Japanese or Korean."""
    pairs: list[str] = []
    if _CJK_RUN.search(beyond_ascii(text)) is None:
        return pairs
    for run in _CJK_RUN.findall(text):
        pairs += [run] if len(run) == 1 else [run[i : i + 2] for i in range(len(run) - 1)]
    return pairs
