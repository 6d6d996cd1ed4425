"""Which words of a query stand in which part of a skill, for the human who asks why."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from skill_learner.models import Skill
from skill_learner.ranking.words import stem
from skill_learner.search.documents import bigrams, camel_parts


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
    starts = sorted(re.escape(stem(word).removesuffix("i")) for word in words)
    beginnings = "|".join(starts) or r"(?!)"
    like_a_word = re.compile(rf"(?<![^\W_])(?:{beginnings})[^\W_]*", re.IGNORECASE)
    found: dict[str, tuple[str, ...]] = {}
    for field, text in texts.items():
        stems = {stem(word.lower()) for word in set(like_a_word.findall(text))}
        stems.update(map(stem, camel_parts(text)))
        here = [word for word in words if stem(word) in stems]
        if pairs:
            here += sorted(set(pairs) & set(bigrams(text)))
        if here:
            found[field] = tuple(here)
    return found
