"""Which words of a query stand in which part of a skill, for the human who asks why."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from skill_learner.models import Skill
from skill_learner.search.documents import bigrams, camel_parts

_ENDINGS = re.compile(r"(?:ations?|ings?|ied|edly|ed|ies|es|s|ly|y|e)$")


def matched_words(
    skill: Skill, words: Collection[str], pairs: Collection[str]
) -> Mapping[str, tuple[str, ...]]:
    """For name, description, trigger and body the words of the query found there, endings aside."""
    texts = {
        "name": skill.name,
        "description": skill.description,
        "trigger": skill.trigger_key,
        "asks": "\n".join(skill.asks),
        "body": skill.body,
    }
    beginnings = "|".join(sorted(re.escape(_stem(word)) for word in words)) or r"(?!)"
    like_a_word = re.compile(rf"(?<![^\W_])(?:{beginnings})[^\W_]*", re.IGNORECASE)
    found: dict[str, tuple[str, ...]] = {}
    for field, text in texts.items():
        stems = {_stem(word) for word in set(like_a_word.findall(text))}
        stems.update(map(_stem, camel_parts(text)))
        here = [word for word in words if _stem(word) in stems]
        if pairs:
            here += sorted(set(pairs) & set(bigrams(text)))
        if here:
            found[field] = tuple(here)
    return found


def _stem(word: str) -> str:
    word = word.lower()
    return _ENDINGS.sub("", word) if word.isascii() and len(word) > 4 else word
