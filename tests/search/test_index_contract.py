"""What every storage backend does, run over all of the registry."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skill_learner.errors import ConfigError
from skill_learner.interfaces import IndexDocument, IndexQuery, SkillIndex
from skill_learner.storage import BACKENDS, open_index


def document(key: str, name: str = "", **texts: str) -> IndexDocument:
    values = {"stamp": "1", "content_hash": "h", "state": "active", "scope": "user", **texts}
    return IndexDocument(key=key, name=name or key, **{"description": "", **values})


def query(*words: str, bigrams: tuple[str, ...] = (), **options: object) -> IndexQuery:
    base = IndexQuery(words, bigrams, frozenset({"active"}), None, 100)
    return replace(base, **options)  # type: ignore[arg-type]


def best(index: SkillIndex, asked: IndexQuery) -> list[str]:
    return [m.key for m in sorted(index.match(asked), key=lambda match: -match.whole)]


@pytest.fixture(params=sorted(BACKENDS))
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SkillIndex]:
    opened = open_index(request.param, tmp_path / "state" / "index.sqlite")
    yield opened
    opened.close()


def test_an_unknown_backend_is_refused_with_the_list(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        open_index("redis", tmp_path)
    assert "sqlite" in caught.value.hint


def test_an_empty_index_knows_nothing(index: SkillIndex) -> None:
    assert index.stamps() == {}
    assert index.rarest(["word"], 5) == []
    assert index.match(query("word")) == []


def test_what_is_put_in_is_found_and_what_is_removed_is_not(index: SkillIndex) -> None:
    index.update([document("a", prose="docker compose"), document("b", prose="go build")], [])
    assert best(index, query("docker")) == ["a"]
    assert index.stamps() == {"a": ("1", "h"), "b": ("1", "h")}
    index.update([], ["a", "never-there"])
    assert best(index, query("docker")) == []
    assert set(index.stamps()) == {"b"}


def test_a_changed_document_replaces_the_old_one(index: SkillIndex) -> None:
    index.update([document("a", prose="docker")], [])
    index.update([document("a", prose="podman", stamp="2")], [])
    assert best(index, query("docker")) == []
    assert best(index, query("podman")) == ["a"]
    assert index.stamps() == {"a": ("2", "h")}


def test_restamping_leaves_the_texts(index: SkillIndex) -> None:
    index.update([document("a", prose="docker")], [])
    index.restamp({"a": "9", "gone": "9"})
    assert index.stamps() == {"a": ("9", "h")}
    assert best(index, query("docker")) == ["a"]


def test_any_word_matches_and_more_words_rank_higher(index: SkillIndex) -> None:
    padding = [document(f"p{n}", prose="padding text") for n in range(8)]
    index.update(
        [document("one", prose="alpha x"), document("two", prose="alpha beta"), *padding], []
    )
    assert best(index, query("alpha", "beta")) == ["two", "one"]


def test_name_and_description_count_more_than_the_body(index: SkillIndex) -> None:
    padding = [document(f"p{n}", prose="padding text") for n in range(8)]
    index.update([document("x", prose="kubernetes"), document("y", "kubernetes"), *padding], [])
    assert best(index, query("kubernetes")) == ["y", "x"]
    heads = {match.key: match.head for match in index.match(query("kubernetes"))}
    assert heads["y"] > 0
    assert heads["x"] == 0


def test_endings_are_no_hindrance(index: SkillIndex) -> None:
    index.update([document("a", prose="building containers")], [])
    assert best(index, query("builds", "container")) == ["a"]


def test_states_and_scopes_filter(index: SkillIndex) -> None:
    index.update(
        [
            document("a", prose="word"),
            document("b", prose="word", state="candidate"),
            document("c", prose="word", scope="shop"),
        ],
        [],
    )
    assert set(best(index, query("word"))) == {"a", "c"}
    assert best(index, query("word", states=frozenset({"candidate"}))) == ["b"]
    assert best(index, query("word", scopes=frozenset({"shop"}))) == ["c"]
    assert best(index, query("word", scopes=frozenset())) == []


def test_character_pairs_match_in_their_own_column(index: SkillIndex) -> None:
    index.update([document("zh", prose="修复构建", bigrams="修复 复构 构建")], [])
    assert best(index, query(bigrams=("构建",))) == ["zh"]
    assert best(index, query("nothing", bigrams=("构建",))) == ["zh"]


def test_the_rarest_words_come_first_and_unknown_ones_not_at_all(index: SkillIndex) -> None:
    index.update(
        [document(f"d{n}", prose="common" + (" rare" if n == 0 else "")) for n in range(4)], []
    )
    assert index.rarest(["common", "missing", "rare"], 5) == ["rare", "common"]
    assert index.rarest(["common", "rare"], 1) == ["rare"]


def test_the_limit_holds(index: SkillIndex) -> None:
    index.update([document(f"d{n}", prose="word " * (n + 1)) for n in range(9)], [])
    assert 0 < len(index.match(query("word", limit=3))) <= 6


def test_clear(index: SkillIndex) -> None:
    index.update([document("a", prose="word")], [])
    index.clear()
    assert index.stamps() == {}
    index.update([document("b", prose="word")], [])
    assert best(index, query("word")) == ["b"]


@given(st.lists(st.text(max_size=30), max_size=6), st.lists(st.text(max_size=6), max_size=4))
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40
)
def test_no_text_is_syntax(index: SkillIndex, words: list[str], bigrams: list[str]) -> None:
    index.update([document("a", prose='NEAR("x" y) AND col:z* -q ^w')], [])
    index.rarest(words, 24)
    index.match(query(*words, bigrams=tuple(bigrams)))


@given(st.dictionaries(st.text(min_size=1, max_size=8), st.text(max_size=40), max_size=5))
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=30
)
def test_stamps_come_back_as_told(index: SkillIndex, texts: dict[str, str]) -> None:
    storable = {
        key: text
        for key, text in texts.items()
        if not any("\ud800" <= c <= "\udfff" for c in key + text)
    }
    index.clear()
    index.update([document(key, prose=text, stamp=key * 2) for key, text in storable.items()], [])
    assert index.stamps() == {key: (key * 2, "h") for key in storable}


def test_many_changes_to_one_document_leave_one(index: SkillIndex) -> None:
    for number in range(30):
        index.update([document("a", prose=f"word number{number}")], [])
    assert best(index, query("word")) == ["a"]
    assert best(index, query("number3")) == []
    assert index.rarest(["number29", "word"], 5)[0] in {"number29", "word"}
    index.update([], ["a"])
    assert best(index, query("word")) == []
