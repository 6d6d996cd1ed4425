"""What every storage backend does, run over all of the registry."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skill_learner.errors import ConfigError
from skill_learner.interfaces import IndexDocument, SkillIndex
from skill_learner.ranking.plan import Plan
from skill_learner.ranking.score import WHOLE
from skill_learner.storage import BACKENDS, open_index


def document(key: str, name: str = "", **texts: str) -> IndexDocument:
    values = {"stamp": "1", "content_hash": "h", "state": "active", "scope": "user", **texts}
    return IndexDocument(key=key, name=name or key, **{"description": "", **values})


def plan(*words: str, bigrams: tuple[str, ...] = ()) -> Plan:
    made = Plan()
    made.words, made.bigrams = list(words), list(bigrams)
    return made


ACTIVE = frozenset({"active"})


def best(
    index: SkillIndex,
    asked: Plan,
    states: Collection[str] = ACTIVE,
    scopes: Collection[str] | None = None,
) -> list[str]:
    found = index.match(asked, states, scopes, 100)
    return [c.key for c in sorted(found, key=lambda c: -c.signals[WHOLE])]


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
    assert index.frequencies(["word"]) == {}
    assert index.size() == 0
    assert best(index, plan("word")) == []


def test_what_is_put_in_is_found_and_what_is_removed_is_not(index: SkillIndex) -> None:
    index.update([document("a", prose="docker compose"), document("b", prose="go build")], [])
    assert best(index, plan("docker")) == ["a"]
    assert index.stamps() == {"a": ("1", "h"), "b": ("1", "h")}
    index.update([], ["a", "never-there"])
    assert best(index, plan("docker")) == []
    assert set(index.stamps()) == {"b"}


def test_a_changed_document_replaces_the_old_one(index: SkillIndex) -> None:
    index.update([document("a", prose="docker")], [])
    index.update([document("a", prose="podman", stamp="2")], [])
    assert best(index, plan("docker")) == []
    assert best(index, plan("podman")) == ["a"]
    assert index.stamps() == {"a": ("2", "h")}


def test_restamping_leaves_the_texts(index: SkillIndex) -> None:
    index.update([document("a", prose="docker")], [])
    index.restamp({"a": "9", "gone": "9"})
    assert index.stamps() == {"a": ("9", "h")}
    assert best(index, plan("docker")) == ["a"]


def test_any_word_matches_and_more_words_rank_higher(index: SkillIndex) -> None:
    padding = [document(f"p{n}", prose="padding text") for n in range(8)]
    index.update(
        [document("one", prose="alpha x"), document("two", prose="alpha beta"), *padding], []
    )
    assert best(index, plan("alpha", "beta")) == ["two", "one"]


def test_name_and_description_count_more_than_the_body(index: SkillIndex) -> None:
    padding = [document(f"p{n}", prose="padding text") for n in range(8)]
    index.update([document("x", prose="kubernetes"), document("y", "kubernetes"), *padding], [])
    assert best(index, plan("kubernetes")) == ["y", "x"]


def test_endings_are_no_hindrance(index: SkillIndex) -> None:
    index.update([document("a", prose="building containers")], [])
    assert best(index, plan("builds", "container")) == ["a"]


def test_states_and_scopes_filter(index: SkillIndex) -> None:
    index.update(
        [
            document("a", prose="word"),
            document("b", prose="word", state="candidate"),
            document("c", prose="word", scope="shop"),
        ],
        [],
    )
    assert set(best(index, plan("word"))) == {"a", "c"}
    assert best(index, plan("word"), states=frozenset({"candidate"})) == ["b"]
    assert best(index, plan("word"), scopes=frozenset({"shop"})) == ["c"]
    assert best(index, plan("word"), scopes=frozenset()) == []


def test_character_pairs_match_in_their_own_column(index: SkillIndex) -> None:
    index.update([document("zh", prose="修复构建", bigrams="修复 复构 构建")], [])
    assert best(index, plan(bigrams=("构建",))) == ["zh"]
    assert best(index, plan("nothing", bigrams=("构建",))) == ["zh"]


def test_frequencies_count_the_documents_and_leave_unknown_words_out(index: SkillIndex) -> None:
    index.update(
        [document(f"d{n}", prose="common" + (" rare" if n == 0 else "")) for n in range(4)], []
    )
    assert index.frequencies(["common", "missing", "rare"]) == {"common": 4, "rare": 1}
    assert index.size() == 4


def test_names_words_are_told_by_their_beginning(index: SkillIndex) -> None:
    index.update([document("kubernetes-deploy"), document("karma"), document("docker")], [])
    assert index.name_words("k") == ["karma", "kubernetes"]


def test_a_document_tells_which_words_it_holds(index: SkillIndex) -> None:
    index.update([document("a", prose="alpha building"), document("b", prose="gamma")], [])
    assert index.holding("a", ["alpha", "builds", "gamma", "nowhere"]) == {"alpha", "builds"}
    assert index.holding("gone", ["alpha"]) == set()


def test_the_limit_holds(index: SkillIndex) -> None:
    index.update([document(f"d{n}", prose="word " * (n + 1)) for n in range(9)], [])
    assert len(index.match(plan("word"), ACTIVE, None, 3)) == 3


def test_many_rows_to_pass_over_hide_nothing(index: SkillIndex) -> None:
    others = [document(f"o{n}", prose="word word word", scope="other") for n in range(400)]
    index.update([document("mine", prose="word among others", scope="me"), *others], [])
    assert best(index, plan("word"), scopes={"me"}) == ["mine"]


def test_clear(index: SkillIndex) -> None:
    index.update([document("a", prose="word")], [])
    index.clear()
    assert index.stamps() == {}
    index.update([document("b", prose="word")], [])
    assert best(index, plan("word")) == ["b"]


@given(st.lists(st.text(max_size=30), max_size=6), st.lists(st.text(max_size=6), max_size=4))
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40
)
def test_no_text_is_syntax(index: SkillIndex, words: list[str], bigrams: list[str]) -> None:
    index.update([document("a", prose='NEAR("x" y) AND col:z* -q ^w')], [])
    index.frequencies(words)
    index.name_words(words[0] if words else "")
    index.holding("a", words)
    best(index, plan(*words, bigrams=tuple(bigrams)))


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
    assert best(index, plan("word")) == ["a"]
    assert best(index, plan("number3")) == []
    assert index.size() == 1
    index.update([], ["a"])
    assert best(index, plan("word")) == []


def test_a_seal_lasts_until_something_is_written(index: SkillIndex) -> None:
    assert not index.holds("m")
    index.stamps()
    index.update([document("a")], [])
    index.seal("m")
    assert index.holds("m")
    assert not index.holds("n")
    index.update([], ["a"])
    assert not index.holds("m")
    index.seal("m")
    index.restamp({"a": "2"})
    assert not index.holds("m")
    index.seal("m")
    index.clear()
    assert not index.holds("m")


def test_finishing_keeps_everything(index: SkillIndex) -> None:
    index.update([document(f"a{n}", description=f"word w{n}") for n in range(20)], [])
    index.finish()
    assert index.size() == 20
    assert best(index, plan("w7")) == ["a7"]
