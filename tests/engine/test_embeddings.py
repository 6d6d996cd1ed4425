"""Vectors: kept, made again when they must be, and never the reason why a search fails."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skill_learner import SkillEngine, SkillLearnerConfig
from skill_learner.search.embeddings import BATCH, EmbeddingFaultError, unit_vectors

Engines = Callable[..., SkillEngine]


class Meaning:
    """Vectors by which topic's words a text holds; counts what it embeds."""

    topics = ("heap", "docs", "mail")

    def __init__(self, model: str = "one", extra: int = 0) -> None:
        self.model_name = model
        self.extra = extra
        self.batches: list[int] = []

    def embed(self, texts: list[str]) -> list[list[float]]:
        self.batches.append(len(texts))
        return [
            [float(topic in text) + 0.01 for topic in self.topics] + [0.0] * self.extra
            for text in texts
        ]


@pytest.fixture
def engines(tmp_path: Path) -> Engines:
    def make(provider: Any, **settings: Any) -> SkillEngine:
        config = SkillLearnerConfig.from_dict(
            {"skills_dir": tmp_path / "skills", "approval": "auto", **settings}
        )
        return SkillEngine(config, embedding_provider=provider)

    return make


def save(engine: SkillEngine, name: str, topic: str) -> None:
    arguments = {"name": name, "description": f"Use when {topic} is asked.", "body": f"Do {topic}."}
    assert engine.handle_tool_call("save_skill", arguments).startswith("Saved")


def found(engine: SkillEngine, query: str) -> list[str]:
    return [skill.name for skill in engine.get_relevant_skills(query)]


def test_skills_are_embedded_on_save_and_kept(engines: Engines) -> None:
    provider = Meaning()
    with engines(provider) as engine:
        save(engine, "alpha", "heap")
        save(engine, "beta", "docs")
        assert engine.get_stats()["embedding"]["embedded"] == 2
    again = Meaning()
    with engines(again) as engine:
        assert found(engine, "heap") == ["alpha"]
    assert again.batches == [1]  # the query alone


@pytest.mark.parametrize("other", [Meaning("two"), Meaning("one", extra=3)])
def test_another_model_or_dimension_embeds_anew(engines: Engines, other: Meaning) -> None:
    with engines(Meaning()) as engine:
        save(engine, "alpha", "heap")
        save(engine, "beta", "docs")
    with engines(other) as engine:
        assert found(engine, "heap") == ["alpha"]
        assert found(engine, "docs") == ["beta"]
    assert 2 in other.batches


def test_an_edited_skill_is_embedded_anew(engines: Engines, tmp_path: Path) -> None:
    provider = Meaning()
    with engines(provider) as engine:
        save(engine, "alpha", "heap")
        file = tmp_path / "skills" / "alpha" / "SKILL.md"
        file.write_text(file.read_text().replace("heap", "mail"))
        assert found(engine, "mail") == ["alpha"]
        assert found(engine, "heap") == []


def test_threshold_and_top_k(engines: Engines) -> None:
    with engines(Meaning(), semantic_threshold=0.9, semantic_top_k=2) as engine:
        for number in range(4):
            save(engine, f"heap-{number}", f"heap {number}")
        save(engine, "beta", "docs")
        assert len(found(engine, "heap")) == 2
        assert "beta" not in found(engine, "heap")


def test_batches(engines: Engines, tmp_path: Path) -> None:
    for number in range(BATCH + 6):
        folder = tmp_path / "skills" / f"s{number}"
        folder.mkdir(parents=True)
        text = f"---\nname: s{number}\ndescription: Use when heap {number}.\n---\nDo.\n"
        (folder / "SKILL.md").write_text(text)
    provider = Meaning()
    with engines(provider) as engine:
        found(engine, "heap")
    assert provider.batches == [BATCH, 6, 1]


def test_a_slow_provider_costs_its_timeout_once(engines: Engines) -> None:
    class Slow(Meaning):
        def embed(self, texts: list[str]) -> list[list[float]]:
            time.sleep(3)
            return super().embed(texts)

    with engines(Meaning()) as engine:
        save(engine, "alpha", "heap")
    with engines(Slow("slow"), embedding_timeout=0.2) as engine:
        started = time.monotonic()
        assert found(engine, "heap") == ["alpha"]  # by words
        assert found(engine, "heap") == ["alpha"]
        assert time.monotonic() - started < 2
        assert "TimeoutError" in engine.get_stats()["embedding"]["last_error"]


def test_a_damaged_store_is_made_again(engines: Engines, tmp_path: Path) -> None:
    with engines(Meaning()) as engine:
        save(engine, "alpha", "heap")
    (store,) = (tmp_path / "skills").glob(".index-vectors.sqlite")
    store.write_bytes(b"damaged" * 1000)
    with engines(Meaning()) as engine:
        assert found(engine, "heap") == ["alpha"]  # by words, and the file goes
        assert found(engine, "heap") == ["alpha"]
        assert engine.get_stats()["embedding"]["embedded"] == 1


@pytest.mark.parametrize(
    "answer",
    [[], [[1.0]], "no", [["x"], ["y"]], [[1.0], [1.0, 2.0]], [[float("inf")], [1.0]], None, [1, 2]],
)
def test_wrong_shapes_are_named(answer: Any) -> None:
    with pytest.raises(EmbeddingFaultError):
        unit_vectors(answer, 2)


def test_the_model_in_the_wheel_needs_no_network(engines: Engines) -> None:
    pytest.importorskip("wordllama")
    from skill_learner import StaticEmbeddings

    with engines(StaticEmbeddings()) as engine:
        save(engine, "alpha", "a memory leak in a Python process")
        save(engine, "beta", "publishing the documentation")
        assert found(engine, "RAM keeps growing")[0] == "alpha"


class Blending(Meaning):
    """Says what is alike by a table; its cosine tells nothing."""

    blend_weight, likeness_weight = 0.3, 2.0
    topics = ()

    def likeness(self, query: str, texts: list[str]) -> list[float]:
        assert all("Do " not in text for text in texts), "names and descriptions alone"
        return [float("beta" in text) for text in texts]


def embedded_as_one(texts: list[str]) -> list[list[float]]:
    return [[1.0] for _ in texts]


def test_what_is_alike_comes_before_what_shares_a_word(engines: Engines) -> None:
    provider = Blending()
    provider.embed = embedded_as_one  # type: ignore[method-assign]
    with engines(provider) as engine:
        save(engine, "alpha", "heap")
        save(engine, "beta", "docs")
        assert found(engine, "heap") == ["beta", "alpha"]


@pytest.mark.parametrize("answer", [[0.5], ["x", "y"], None])
def test_a_faulty_likeness_leaves_words_and_cosine(engines: Engines, answer: Any) -> None:
    provider = Blending()
    provider.embed = embedded_as_one  # type: ignore[method-assign]
    with engines(provider) as engine:
        save(engine, "alpha", "heap")
        save(engine, "beta", "docs")
        provider.likeness = lambda query, texts: answer  # type: ignore[method-assign]
        assert found(engine, "heap") == ["alpha", "beta"]
        assert engine.get_stats()["embedding"]["last_error"]


def test_the_model_in_the_wheel_knows_words_that_mean_the_same() -> None:
    pytest.importorskip("wordllama")
    from skill_learner import StaticEmbeddings

    model = StaticEmbeddings()
    texts = ["Use when an automobile will not start", "Use when the oven is cold", ""]
    car, oven, nothing = model.likeness("the car does not start", texts)
    assert car > oven > nothing
    assert model.likeness("", texts) == model.likeness("the of", texts) == [0.0] * 3
