"""Each fault that doctor knows is made to happen; the finding tells the command that mends it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hook_sandbox import HookSandbox

from skill_learner.cli import check_editors
from skill_learner.config import SkillLearnerConfig
from skill_learner.ledger import Ledger
from skill_learner.models import Usage

Run = Callable[..., Any]
Write = Callable[[str], None]

pytestmark = pytest.mark.process


def findings(run: Run, check: str, *more: str, code: int | None = None) -> list[dict[str, Any]]:
    rows = json.loads(run("doctor", "--json", *more, code=code).stdout)
    return [row for row in rows if row["check"] == check]


@pytest.fixture
def installed(run: Run) -> None:
    run("init", "--target", "claude-code", "--provider", "offline")


def skill(text: str, name: str = "deploy") -> Path:
    folder = SkillLearnerConfig.load().skills_dir / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "SKILL.md").write_text(text)
    return folder / "SKILL.md"


def test_a_slow_hook_is_measured(
    installed: None, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check_editors, "_SLOW", 0.0)
    (found,) = findings(run, "hook", code=0)
    assert found["result"] == "note"
    assert float(found["what"].split()[3]) > 0
    assert "interpreter" in found["todo"]


def test_a_hook_that_records_nothing_is_a_fault(
    installed: None, hooks: HookSandbox, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check_editors, "hook_seconds", lambda *_: None)
    (found,) = findings(run, "hook", code=1)
    assert (found["result"], found["todo"][:18]) == ("fault", "skill-learner init")


def test_links_into_a_library_that_is_gone(installed: None, hooks: HookSandbox, run: Run) -> None:
    run("remember", "--when", "Use when deploying the shop", "run tools/deploy.sh --dry first")
    run("approve", "run-tools-deploy-sh-dry-first")
    link = hooks.project / ".claude" / "skills" / "run-tools-deploy-sh-dry-first"
    assert link.is_symlink()
    shutil.rmtree(SkillLearnerConfig.load().skills_dir)
    (found,) = [row for row in findings(run, "listing", code=1) if row["result"] == "fault"]
    assert str(link) in found["what"]
    run("doctor", "--fix", code=None)
    assert not link.is_symlink()
    assert link.name not in (hooks.project / "CLAUDE.md").read_text()
    assert findings(run, "listing", code=0) == []


def test_reached_ceilings(installed: None, run: Run, settings: Write) -> None:
    settings("daily_reviews: 1\n")
    (found,) = findings(run, "ceilings", code=0)
    assert found["result"] == "ok"
    meter = Ledger(SkillLearnerConfig.load().paths.ledger).meter("job", "anthropic", "m", None)
    meter.begin(100)
    meter.end(Usage("anthropic", "m", 900, 50, None), "ok")
    (found,) = findings(run, "ceilings", code=0)
    assert found["result"] == "note"
    assert "1 of 1 reviews" in found["what"]
    assert "daily_reviews" in found["todo"]


def test_a_listing_over_its_budget(installed: None, run: Run, settings: Write) -> None:
    for number in range(12):
        name = f"deploy-{number}"
        skill(f"---\nname: {name}\ndescription: Use when {name} {'fails ' * 30}.\n---\nx\n", name)
    settings("index_tokens: 100\n")
    found = findings(run, "listing", code=None)
    assert any("index_tokens" in row["todo"] for row in found if row["result"] == "note")


@pytest.mark.parametrize(
    ("text", "words", "todo"),
    [
        ("---\nname: deploy\ndescription: ''\n---\nx\n", "no editor knows", "description"),
        (
            f"---\nname: deploy\ndescription: Use when {'x ' * 900}\n---\nx\n",
            "is cut at",
            "shorten",
        ),
        (
            "---\nname: other\ndescription: Use when x fails.\n---\nx\n",
            "differs from its",
            "same name",
        ),
    ],
)
def test_skills_that_no_editor_can_read(
    text: str, words: str, todo: str, installed: None, run: Run
) -> None:
    path = skill(text)
    (found,) = [row for row in findings(run, "skill") if words in row["what"]]
    assert str(path) in found["what"]
    assert todo in found["todo"]


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        (
            ("claude", "1.0.3 (Claude Code)"),
            ("note", "hooks were tried from 2.1.197", "claude update"),
        ),
        (("claude", "2.1.332 (Claude Code)"), ("ok", "hooks, index and skills work", "")),
        (("claude", "9.0.0 (Claude Code)"), ("ok", "newer than what was tried", "")),
        (("claude", "hello"), ("note", "does not tell its version", "claude update")),
        (("codex", "codex-cli 0.100.1"), ("note", "tried from 0.171.0", "@openai/codex")),
        (("codex", "codex-cli 0.171.0"), ("ok", "hooks, index and skills work", "")),
    ],
)
def test_versions_of_the_clients(
    version: tuple[str, str],
    expected: tuple[str, str, str],
    run: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (program, said), (result, words, todo) = version, expected
    fake = tmp_path / "bin" / program
    fake.parent.mkdir()
    fake.write_text(f"#!/bin/sh\necho '{said}'\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}{os.pathsep}{os.environ['PATH']}")
    (found,) = findings(run, program)
    assert found["result"] == result
    assert words in found["what"]
    assert todo in found["todo"]


def test_a_remote_whose_sync_failed(run: Run, tmp_path: Path, installed: None) -> None:
    bare = tmp_path / "team.git"
    subprocess.run(["git", "init", "--quiet", "--bare", str(bare)], check=True)
    run("remote", "add", "team", str(bare))
    run("sync")
    (found,) = findings(run, "remote team", code=0)
    assert (found["result"], found["what"][:9]) == ("ok", "last sync")
    bare.rename(tmp_path / "gone.git")
    run("sync", code=None)
    (found,) = findings(run, "remote team", code=0)
    assert (found["result"], found["todo"]) == ("note", "skill-learner sync team")


def test_a_damaged_store_of_what_was_imported_is_a_fault(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "deploy" / "SKILL.md"
    file.parent.mkdir()
    file.write_text("---\nname: deploy\ndescription: Use when deploy fails.\n---\nDo it.\n")
    run("import", str(file))
    assert findings(run, "arrived skills") == []
    store = SkillLearnerConfig.load().skills_dir / ".history" / "arrived.sqlite"
    store.write_bytes(b"no database" * 1000)
    (found,) = findings(run, "arrived skills", code=1)
    assert found["result"] == "fault"
    assert "of what was imported" in found["what"]
