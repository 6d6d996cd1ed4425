"""Loops and engines on libraries in temporary folders, with reviewers that answer from a script."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from skill_learner import SkillEngine, SkillLearnerConfig, SkillLoop, create_skill_loop
from skill_learner.testing import ScriptedLLM


def skill_answer(name: str = "find-memory-leaks", **more: Any) -> dict[str, Any]:
    """A review that proposes one skill, citing the first two steps."""
    skill = {
        "action": "create",
        "name": name,
        "description": "Use when a Python process grows: a memory leak.",
        "body": "## Steps\n1. Take two snapshots with tracemalloc and compare them.\n",
        "evidence": [{"claim": "compare two snapshots", "steps": [1, 2]}],
        "confidence": 0.9,
        **more,
    }
    return {"outcome": "answered", "skills": [skill], "nothing_because": ""}


NOTHING = {"outcome": "routine", "skills": [], "nothing_because": "routine"}


@pytest.fixture
def learned() -> Callable[..., dict[str, Any]]:
    return skill_answer


@pytest.fixture
def nothing() -> dict[str, Any]:
    return NOTHING


@pytest.fixture
def skills_dir(tmp_path: Path) -> Path:
    return tmp_path / "skills"


@pytest.fixture
def make_loop(skills_dir: Path) -> Iterator[Callable[..., SkillLoop]]:
    """Loops on one library; closed at the end. `script`: what their LLM answers."""
    made: list[SkillLoop] = []

    def make(*script: Any, **settings: Any) -> SkillLoop:
        llm = settings.pop("llm", None) or ScriptedLLM(*script)
        loop = create_skill_loop(llm=llm, skills_dir=skills_dir, **settings)
        made.append(loop)
        return loop

    yield make
    for loop in made:
        loop.close(timeout=5)


@pytest.fixture
def make_engine(skills_dir: Path) -> Iterator[Callable[..., SkillEngine]]:
    made: list[SkillEngine] = []

    def make(llm: Any = None, embedding_provider: Any = None, **settings: Any) -> SkillEngine:
        config = SkillLearnerConfig.from_dict({"skills_dir": skills_dir, **settings})
        engine = SkillEngine(config=config, llm=llm, embedding_provider=embedding_provider)
        made.append(engine)
        return engine

    yield make
    for engine in made:
        engine.close(timeout=5)


@pytest.fixture
def save(make_engine: Callable[..., SkillEngine]) -> Callable[..., str]:
    """Puts an active skill into the library through the model's own tool."""

    def put(name: str, description: str, body: str = "Do it.") -> str:
        engine = make_engine(approval="auto")
        arguments = {"name": name, "description": description, "body": body}
        return engine.handle_tool_call("save_skill", arguments)

    return put
