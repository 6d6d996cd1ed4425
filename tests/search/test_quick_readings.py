"""What is read quickly, for thousands of skills, says what the plain way of reading says."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skill_learner.characters import beyond_ascii, has_hidden, without_hidden
from skill_learner.files import read_at_once
from skill_learner.ranking.words import stem, stems_of
from skill_learner.search.documents import bigrams, camel_parts, prose_and_code

FENCE = re.compile(r"^[ \t]*(```|~~~)[^\n]*\n(.*?)(?:^[ \t]*\1[^\n]*$|\Z)", re.M | re.S)
HIDDEN = "\u200b\u200f\u202e\u2060\u2066\U000e0041"
CAMEL_WORD = re.compile(r"\b[A-Za-z0-9]*[a-z0-9][A-Z][A-Za-z0-9]*\b")
CAMEL_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")

fenced = st.lists(
    st.sampled_from(["```", "~~~", "````", "```sh", "\n", "\n\n", " ", "\t", "a", "x ```", "\r\n"])
).map("".join)
wordy = st.text(st.sampled_from("aAbBzZ09_-. ,\t\n\x1c\xa0\x85\u00c9\u00e9\u4fee" + HIDDEN[0]))


@given(fenced)
def test_fenced_blocks(body: str) -> None:
    prose, code, end = [], [], 0
    for match in FENCE.finditer(body):
        prose.append(body[end : match.start()])
        code.append(match.group(2))
        end = match.end()
    if code:
        assert prose_and_code(body) == ("\n".join([*prose, body[end:]]), "\n".join(code))
    else:
        assert prose_and_code(body) == (body, "")


@given(wordy)
def test_camel_words(text: str) -> None:
    tokens = [token for token in dict.fromkeys(text.split()) if not token.isupper()]
    words = CAMEL_WORD.findall(" ".join(tokens))
    wanted = [p.lower() for word in words for p in CAMEL_PART.findall(word) if len(p) > 1]
    assert camel_parts(text) == wanted


@given(st.text() | wordy)
def test_characters_beyond_ascii(text: str) -> None:
    assert beyond_ascii(text) == "".join(c for c in text if ord(c) > 127)


@given(st.text(st.sampled_from("ab \u00e9\u4fee" + HIDDEN)))
def test_hidden_characters(text: str) -> None:
    assert has_hidden(text) is bool(set(text) & set(HIDDEN))
    assert without_hidden(text) == "".join(c for c in text if c not in HIDDEN)


@given(st.text(st.sampled_from("ab \u00e9\u4fee\u590d\uac00\ufe0f")))
def test_pairs_of_characters(text: str) -> None:
    runs = re.findall("[\u4fee\u590d\uac00]+", text)
    pairs = [[run] if len(run) == 1 else [a + b for a, b in pairwise(run)] for run in runs]
    assert bigrams(text) == [pair for found in pairs for pair in found]


@given(st.text(st.characters(max_codepoint=127)))
def test_words_of_ascii(text: str) -> None:
    blank = "".join(c if c.isalnum() else " " for c in text)
    whole = [stem(word.lower()) for word in blank.split()]
    assert stems_of(text)[: len(whole)] == whole


def test_a_file_at_once(tmp_path: Path) -> None:
    file = tmp_path / "file"
    for size in (0, 1, 70_000):
        file.write_bytes(b"x" * size)
        assert read_at_once(str(file), 70_000) == b"x" * size
    with pytest.raises(ValueError, match="70000 bytes"):
        read_at_once(str(file), 69_999)
    with pytest.raises(FileNotFoundError):
        read_at_once(str(tmp_path / "none"))
