"""Whether a description makes an agent reach for its skill at the right moment, and what of its
faults can be mended without knowing more."""

from __future__ import annotations

import re

from skill_learner.learning.prose import split_sentences
from skill_learner.ranking.words import parse_query, stem

LONGEST = 400
SHORTEST = 25
_FEWEST_WORDS = 3
_WHEN = re.compile(
    r"^(?:use (?:this |it )?(?:skill )?(?:when|if|for|before|after|while|whenever|in|to)\b"
    r"|when(?:ever)?\b|if\b|before\b|after\b"
    r"|verwenden\b|wenn\b|\u00e0 utiliser\b|utiliser\b|usar(?:e|lo)?\b|da usare\b|cuando\b|quando\b"
    r"|gebruik\b|wanneer\b|u\u017cyj\b|\u0438\u0441\u043f\u043e\u043b\u044c\u0437\u043e\u0432\u0430\u0442\u044c\b|\u043a\u043e\u0433\u0434\u0430\b)"
    r"|kullan\b|\u65f6|\u4f7f\u7528|\u7528\u4e8e|\u5834\u5408|\u3068\u304d|\u4f7f\u3046|\ub54c|\uc0ac\uc6a9",
    re.IGNORECASE,
)
_MET_CHARACTERS = 120


def mended(description: str, command: str = "", error: str = "") -> str:
    """A description that begins with when to use the skill, and fits, as far as moving its
    sentences and naming a failure do that. command, error: of the failure that the skill was
    learned from, fit to be shown; "" where it is none."""
    sentences = [one.strip() for one in split_sentences(" ".join(description.split()))]
    when = next((n for n, one in enumerate(sentences) if _WHEN.search(one)), None)
    if when:
        sentences.insert(0, sentences.pop(when))
    met = " ".join(error.replace("`", "'").split())[:_MET_CHARACTERS].rstrip()
    if when is None and command and met and " ".join(sentences).isascii():
        sentences.insert(0, f"Use when `{command}` fails with: {met}.")
    while len(sentences) > 1 and len(" ".join(sentences)) > LONGEST:
        sentences.pop()
    return " ".join(sentences)


def description_faults(name: str, description: str, trigger: str = "") -> list[str]:
    """What keeps a description from triggering, in words; none for a good one.

    trigger: what the skill was learned from (an error line, a request), where it is known.
    """
    text = " ".join(description.split())
    if not text:
        return ["it is empty, so no editor knows when to use the skill"]
    faults = []
    if not _WHEN.search(text):
        faults.append('it does not begin with when to use the skill ("Use when ...")')
    wide = sum(character > "\u2fff" for character in text)  # each tells as much as two letters
    if len(text) + wide < SHORTEST:
        faults.append(f"it is shorter than {SHORTEST} characters and tells too little")
    if len(text) > LONGEST:
        faults.append(
            f"it has {len(text)} characters: an editor's listing has room for about"
            f" {LONGEST} of one skill"
        )
    words = parse_query(text)
    if len(words.words) + len(words.bigrams) < _FEWEST_WORDS:
        faults.append("it holds hardly a word that tells what it is about")
    missing = _missing(trigger, f"{name} {text}")
    if missing:
        faults.append(f"it names none of the words of what one meets: {', '.join(missing)}")
    return faults


def _missing(trigger: str, text: str) -> list[str]:
    """The first words of a trigger when not one of its words stands in the text."""
    asked = parse_query(trigger).words
    there = {stem(word) for word in parse_query(text).words}
    return asked[:4] if asked and not there & {stem(word) for word in asked} else []
