"""Texts as words: of a query, and of the short texts of a skill that it is compared with.

Without `re`, whose import alone costs a prompt hook a third of its time.
"""

from itertools import pairwise

from skill_learner.ranking.stop_words import STOP_WORDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_QUERY_CAP = 20_000
_FIRST_WORDS, _LAST_WORDS = 140, 60
_CJK = (
    (0x3040, 0x30FF),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xAC00, 0xD7AF),
    (0xF900, 0xFAFF),
)
_HIDDEN = (
    (0x200B, 0x200B),
    (0x200E, 0x200F),
    (0x202A, 0x202E),
    (0x2060, 0x2064),
    (0x2066, 0x2069),
    (0xE0000, 0xE007F),
)
_ASCII_WORDS = (
    " " * 48
    + "0123456789"
    + " " * 7
    + "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    + " " * 6
    + "abcdefghijklmnopqrstuvwxyz"
    + " " * 5
)
_ENDINGS = (
    "ations",
    "ation",
    "ating",
    "ated",
    "ate",
    "izing",
    "ized",
    "ingly",
    "edly",
    "ing",
    "ment",
)
_SHORT_ENDINGS = ("ers", "er", "ed", "ly", "or")


class Query:
    """words: lower-case, those that carry meaning, each once, in the order of the text. bigrams:
    pairs of characters of scripts that write no spaces. follows: pairs of words or bigrams that
    stand next to one another, stop words aside."""

    __slots__ = ("bigrams", "follows", "words")

    def __init__(
        self, words: list[str], bigrams: list[str], follows: list[tuple[str, str]]
    ) -> None:
        self.words = words
        self.bigrams = bigrams
        self.follows = follows


def parse_query(text: str) -> Query:
    """Any text is a query. Stop words and single characters are left out, unless there is nothing
    else; code words also give their parts. Of a long prompt, which is mostly pasted, beginning and
    end count."""
    if len(text) > _QUERY_CAP:
        text = text[: _QUERY_CAP // 2] + "\n" + text[-_QUERY_CAP // 2 :]
    plain, runs = _plain_and_runs(text)
    raw = plain.split()
    spoken = [word.lower() for word in raw]
    telling = [word for word in spoken if word not in STOP_WORDS and len(word) > 1]
    if not telling:
        telling = spoken
    follows = list(dict.fromkeys(pairwise(telling)))
    words = list(dict.fromkeys(telling))
    if len(words) > _FIRST_WORDS + _LAST_WORDS:
        words = words[:_FIRST_WORDS] + words[-_LAST_WORDS:]
    known = set(words)
    for part in dict.fromkeys(part for word in raw for part in camel_parts(word)):
        if part not in known and part not in STOP_WORDS:
            words.append(part)
    pairs = [pair for run in runs for pair in run_bigrams(run)]
    follows += list(dict.fromkeys(pairwise(pairs)))
    return Query(words, list(dict.fromkeys(pairs))[:_FIRST_WORDS], follows)


def stems_of(text: str, to_stem: "Callable[[str], str] | None" = None) -> list[str]:
    """A short text as stems, in its order, with character pairs and the parts of code words.
    to_stem: `stem`, or the same with a memory."""
    to_stem = to_stem or stem
    plain, runs = _plain_and_runs(text)
    raw = plain.split()
    found = [to_stem(word.lower()) for word in raw]
    for run in runs:
        found += run_bigrams(run)
    for word in raw:
        if not word.islower():
            found += [to_stem(part) for part in camel_parts(word)]
    return found


def _plain_and_runs(text: str) -> tuple[str, list[str]]:
    """The text with blanks for everything but letters and digits, and its runs of scripts without
    spaces, which are blanks too. Hidden characters vanish."""
    if text.isascii():
        return text.translate(_ASCII_WORDS), []
    plain, runs, run = [], [], []
    for c in text:
        code = ord(c)
        if code > 0x2FFF and _within(code, _CJK):
            run.append(c)
            plain.append(" ")
            continue
        if run:
            runs.append("".join(run))
            run = []
        if c.isalnum():
            plain.append(c)
        elif code < 0x200B or not _within(code, _HIDDEN):
            plain.append(" ")
    if run:
        runs.append("".join(run))
    return "".join(plain), runs


def _within(code: int, ranges: tuple[tuple[int, int], ...]) -> bool:
    for low, high in ranges:  # noqa: SIM110 - any() of a generator costs several times as much
        if low <= code <= high:
            return True
    return False


def run_bigrams(run: str) -> list[str]:
    return [run] if len(run) == 1 else [run[i : i + 2] for i in range(len(run) - 1)]


def camel_parts(word: str) -> list[str]:
    """The words inside one camelCase word, lower-case: `parseHTTPHeader` gives parse, http, header.
    Nothing for any other word."""
    if word.islower() or word.isupper() or word[1:].islower() or not word.isascii():
        return []
    parts, start = [], 0
    hump = False
    for i in range(1, len(word)):
        before, here = word[i - 1], word[i]
        after = word[i + 1] if i + 1 < len(word) else ""
        if here.isupper() and not before.isupper():
            hump = True
        elif not (
            (here.isupper() and before.isupper() and after.islower())
            or here.isdigit() != before.isdigit()
        ):
            continue
        parts.append(word[start:i].lower())
        start = i
    parts.append(word[start:].lower())
    return [part for part in parts if len(part) > 1] if hump else []


def stem(word: str) -> str:
    """A word without its commonest English endings, so that `building` meets `build`."""
    if len(word) < 4 or not word.isascii():
        return word
    if word.endswith("ies"):
        word = word[:-3] + "y"
    elif word.endswith("sses"):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in _ENDINGS + _SHORT_ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
                word = word[:-1]
            break
    if word.endswith("e") and len(word) > 3:
        word = word[:-1]
    if word.endswith("y") and len(word) > 2:
        word = word[:-1] + "i"
    return word
