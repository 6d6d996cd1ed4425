"""Keep every test away from the real home, the real settings and the real network keys."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from skill_learner.paths import StatePaths

_FOREIGN_PREFIXES = (
    "SKILL_LEARNER_",
    "CLAUDE",
    "ANTHROPIC_",
    "OPENAI_",
    "CURSOR_",
    "CODEX_",
    "XDG_",
    "GIT_",
)
_TEST_SWITCHES = {
    "SKILL_LEARNER_SHARED",  # folder of recorded sessions
    "SKILL_LEARNER_CLAUDE",  # path of the client binary that tests/client drives
    "SKILL_LEARNER_CODEX",  # ... and the one that tests/codex drives
    "SKILL_LEARNER_SKILLS_CLI",  # the npm `skills` CLI, which reads our exports
    "SKILL_LEARNER_CLIENT_TESTS",  # "require": a missing client fails instead of skipping
}


@pytest.fixture(autouse=True)
def hermetic_home(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """An empty home folder for this test; variables that could steer the product are taken away."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setattr(os, "fsync", lambda _: None)  # nobody pulls the plug; disks are slow
    for name in list(os.environ):
        if name.startswith(_FOREIGN_PREFIXES) and name not in _TEST_SWITCHES:
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Test")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "test@example.invalid")
    return home


@pytest.fixture
def state(hermetic_home: Path) -> StatePaths:
    """The state folder of this test's user."""
    return StatePaths(hermetic_home / ".skill_learner")
