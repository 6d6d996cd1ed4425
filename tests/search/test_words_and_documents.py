from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from skill_learner.models import Skill
from skill_learner.ranking import words as ranking_words
from skill_learner.ranking.words import parse_query, stem, stems_of
from skill_learner.search.documents import bigrams, camel_parts, document_of


def query_words(text: str) -> list[str]:
    return parse_query(text).words


def query_bigrams(text: str) -> list[str]:
    return parse_query(text).bigrams


def skill(body: str, description: str = "Use it") -> Skill:
    return Skill("x", description, body, "active", "user", "", "h", True)


def test_words_that_tell_nothing_are_left_out() -> None:
    assert query_words("How do I fix the Docker build?") == ["fix", "docker", "build"]
    assert query_words("how do i") == ["how", "do", "i"]


def test_code_words_are_taken_apart() -> None:
    assert camel_parts("parseHTTPHeader getUserId plain") == [
        "parse",
        "http",
        "header",
        "get",
        "user",
        "id",
    ]
    words = query_words("`useEffect` --no-verify TS2345 snake_case src/app.py")
    assert {"useeffect", "effect", "verify", "ts2345", "snake", "case", "src", "py"} <= set(words)


def test_scripts_without_spaces_become_pairs() -> None:
    assert bigrams("修复构建 ok 字") == ["修复", "复构", "构建", "字"]
    assert query_bigrams("修复Docker构建，修复") == ["修复", "构建"]
    assert query_words("修复Docker构建") == ["docker"]


def test_a_pasted_log_is_bounded() -> None:
    log = "error: undefined reference\n" * 200_000
    words = query_words("Fix linker " + log + " please in crate foo")
    assert {"linker", "crate", "foo"} <= set(words)


def test_code_is_told_from_prose_and_hidden_characters_go() -> None:
    made = document_of(skill("Run\u200b it.\n```sh\nmake all\n```\nThen ~~~ no.\n"), "k", "s")
    assert made.code == "make all\n"
    assert "make" not in made.prose
    assert "Run it." in made.prose
    assert "Then" in made.prose


def test_an_open_fence_reaches_to_the_end() -> None:
    made = document_of(skill("Text\n```\ncode\n"), "k", "s")
    assert (made.code, "code" in made.prose) == ("code\n", False)


@given(st.text(max_size=300))
def test_any_text_is_a_query_and_a_skill(text: str) -> None:
    assert all(word == word.lower() for word in query_words(text))
    document_of(skill(text, text), "k", "s")


@given(st.from_regex(r"[A-Za-z0-9]{1,12}", fullmatch=True))
def test_queries_and_documents_take_code_words_apart_alike(word: str) -> None:
    assert ranking_words.camel_parts(word) == camel_parts(word)


def test_endings_do_not_part_a_word_from_itself() -> None:
    for one, other in [
        ("building", "builds"),
        ("migrations", "migrate"),
        ("stopped", "stops"),
        ("queries", "query"),
        ("classes", "class"),
        ("deployment", "deploying"),
    ]:
        assert stem(one) == stem(other), (one, other)
    assert stem("postgres") != stem("post")


def test_what_follows_what_skips_stop_words() -> None:
    assert ("layer", "cache") in parse_query("Is the layer of the cache gone?").follows


def test_short_texts_keep_their_order() -> None:
    assert stems_of("Fix useEffect 构建失败") == [
        "fix",
        "useeffect",
        "构建",
        "建失",
        "失败",
        "use",
        "effect",
    ]


def test_a_score_is_never_above_one() -> None:
    import random

    from skill_learner.ranking.score import WEIGHTS, WEIGHTS_CJK, part_of_best

    chance = random.Random(7)
    for weights in (WEIGHTS, WEIGHTS_CJK):
        for _ in range(2_000):
            best = [chance.random() * 9 for _ in weights]
            assert part_of_best(best, best, weights) == 1.0
            nearly = [top * chance.choice((1.0, 1 - 1e-16, 0.5)) for top in best]
            assert 0 <= part_of_best(nearly, best, weights) <= 1
            assert part_of_best([0.0] * len(best), [0.0] * len(best), weights) == 0.0
