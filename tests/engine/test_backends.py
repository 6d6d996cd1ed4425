"""What every registered storage backend must do, through the public door."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skill_learner import SkillEngine, SkillLearnerConfig
from skill_learner.storage import BACKENDS

Engines = Callable[..., SkillEngine]


@pytest.fixture(params=sorted(BACKENDS))
def engine_of(request: pytest.FixtureRequest, tmp_path: Path) -> Engines:
    def make(**settings: Any) -> SkillEngine:
        values = {
            "skills_dir": tmp_path / "skills",
            "storage_backend": request.param,
            "approval": "auto",
        }
        return SkillEngine(SkillLearnerConfig.from_dict({**values, **settings}))

    return make


def save(engine: SkillEngine, name: str, description: str, body: str = "Do it.") -> str:
    arguments = {"name": name, "description": description, "body": body}
    return engine.handle_tool_call("save_skill", arguments)


def names(engine: SkillEngine, query: str) -> list[str]:
    return [skill.name for skill in engine.get_relevant_skills(query)]


def test_what_is_saved_is_found_by_another_engine(engine_of: Engines) -> None:
    with engine_of() as engine:
        save(engine, "deploy-docs", "Use when the documentation is deployed.")
        assert names(engine, "documentation") == ["deploy-docs"]
    with engine_of() as engine:
        assert names(engine, "documentation") == ["deploy-docs"]
        assert engine.get_stats()["total_skills"] == 1


def test_a_hand_edit_is_seen_at_the_next_read(engine_of: Engines, tmp_path: Path) -> None:
    with engine_of() as engine:
        save(engine, "deploy-docs", "Use when the documentation is deployed.")
        file = tmp_path / "skills" / "deploy-docs" / "SKILL.md"
        file.write_text(file.read_text().replace("documentation", "kubernetes cluster"))
        assert names(engine, "kubernetes") == ["deploy-docs"]
        assert names(engine, "documentation") == []
        assert "kubernetes" in engine.handle_tool_call("load_skill", {"name": "deploy-docs"})


def test_one_name_is_one_skill(engine_of: Engines) -> None:
    with engine_of() as engine:
        save(engine, "deploy-docs", "Use when the documentation is deployed.", "One way.")
        save(engine, "deploy-docs", "Use when the website is published.", "Another way.")
        found = names(engine, "documentation website")
        assert len(found) == len(set(found)) == 2
        assert "One way." in engine.handle_tool_call("load_skill", {"name": "deploy-docs"})


def test_a_lost_or_damaged_index_is_made_again(engine_of: Engines, tmp_path: Path) -> None:
    with engine_of() as engine:
        save(engine, "deploy-docs", "Use when the documentation is deployed.")
    for index in (tmp_path / "skills").glob(".index.sqlite*"):
        index.write_bytes(b"not a database" * 100)
    with engine_of() as engine:
        assert names(engine, "documentation") == ["deploy-docs"]
        assert "deploy-docs" in engine.on_session_start("documentation")


def test_where_no_index_can_be_the_search_goes_on(engine_of: Engines, tmp_path: Path) -> None:
    with engine_of() as engine:
        save(engine, "deploy-docs", "Use when the documentation is deployed.")
    for index in (tmp_path / "skills").glob(".index.sqlite*"):
        index.unlink()
    (tmp_path / "skills" / ".index.sqlite").mkdir()
    with engine_of() as engine:
        assert names(engine, "documentation") == ["deploy-docs"]
        assert "deploy-docs" in engine.on_session_start()


WRITER = """
import sys
from skill_learner import SkillEngine
engine = SkillEngine({"skills_dir": sys.argv[1], "storage_backend": sys.argv[2],
                      "approval": "auto"})
for number in range(15):
    arguments = {"name": f"{sys.argv[3]} {number}", "description": f"Use when {sys.argv[3]}.",
                 "body": f"Do {sys.argv[3]} {number}."}
    answer = engine.handle_tool_call("save_skill", arguments)
    assert answer.startswith("Saved"), answer
"""


@pytest.mark.process
def test_two_processes_write_at_once(engine_of: Engines) -> None:
    with engine_of() as engine:
        config = engine.config
        arguments = [str(config.skills_dir), config.storage_backend]
        writers = [
            subprocess.Popen([sys.executable, "-c", WRITER, *arguments, name])
            for name in ("alpha", "beta")
        ]
        assert [writer.wait(60) for writer in writers] == [0, 0]
        assert engine.get_stats()["total_skills"] == 30
        found = engine.get_relevant_skills("alpha", top_k=100)
        assert len(found) == 15
