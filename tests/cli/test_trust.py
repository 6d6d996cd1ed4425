"""A project's settings file sets everything only as long as it is what the user has looked at."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from skill_learner.config import FILE_NAME, SkillLearnerConfig, user_settings_file
from skill_learner.config_trust import is_trusted

Run = Callable[..., Result]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cloned"
    folder.mkdir()
    (folder / FILE_NAME).write_text("provider: command\ncommand: ./review.sh\nnudge_interval: 30\n")
    monkeypatch.chdir(folder)
    return folder


def test_untrusted_keys_are_ignored_with_a_warning(project: Path) -> None:
    config = SkillLearnerConfig.load(project)
    assert (config.provider, config.command, config.nudge_interval) == ("auto", "", 30)
    assert len(config.warnings) == 2
    assert "skill-learner trust" in config.warnings[0]


def test_trust_holds_for_the_bytes_that_were_seen(project: Path, run: Run) -> None:
    shown = run("trust", "--yes").stdout
    assert "command: ./review.sh" in shown
    assert "To whom: the program that `command` names" in shown
    config = SkillLearnerConfig.load(project)
    assert (config.provider, config.command) == ("command", str(project / "review.sh"))
    assert config.warnings == ()
    assert config.origins["command"] == f"file {project / FILE_NAME}"
    with (project / FILE_NAME).open("a") as file:
        file.write("model: other\n")
    assert SkillLearnerConfig.load(project).provider == "auto"


def test_trust_can_be_taken_back(project: Path, run: Run) -> None:
    run("trust", "--yes")
    assert "no longer trusted" in run("trust", "--revoke").stdout
    assert SkillLearnerConfig.load(project).provider == "auto"
    assert "was not trusted" in run("trust", "--revoke").stdout


def test_nothing_is_trusted_without_a_yes(project: Path, run: Run) -> None:
    run("trust", code=1)
    assert SkillLearnerConfig.load(project).provider == "auto"


def test_a_project_cannot_point_at_a_trust_store_of_its_own(project: Path) -> None:
    data = f"state_dir: {project}\nprovider: command\n".encode()
    (project / FILE_NAME).write_bytes(data)
    from skill_learner.config_trust import trust

    trust(project, project / FILE_NAME, data)
    assert SkillLearnerConfig.load(project).provider == "auto"


def test_a_damaged_store_trusts_nothing(project: Path, run: Run) -> None:
    run("trust", "--yes")
    state = SkillLearnerConfig.load(None).state_dir
    (state / "trusted.json").write_text("[broken")
    file = project / FILE_NAME
    assert not is_trusted(state, file, file.read_bytes())


def test_a_broken_file_names_line_and_column(project: Path, run: Run) -> None:
    (project / FILE_NAME).write_text("provider: [x\n")
    assert f"{FILE_NAME}:2:1" in run("trust", "--yes", code=2).stderr


@pytest.mark.parametrize(
    ("mine", "theirs", "kept"),
    [
        ("", "digest_tokens: 9000000", False),
        ("digest_tokens: 50000", "digest_tokens: 40000", False),
        ("", "nudge_interval: 9", False),
        ("nudge_interval: 2", "nudge_interval: 3", True),
        ("", "nudge_interval: 10", True),
        ("", "index_tokens: 1501", False),
        ("", "index_tokens: 1499", True),
        ("", "semantic_top_k: 6", False),
        ("semantic_top_k: 7", "semantic_top_k: 6", True),
        ("", "semantic_threshold: 0.2", False),
        ("", "semantic_threshold: 0.4", True),
        ("", "review_when: always", False),
        ("review_when: signal", "review_when: ''", False),
        ("review_when: always", "review_when: always", True),
        ("", "review_when: signal", True),
    ],
)
def test_a_project_may_cost_less_but_more_only_with_trust(
    mine: str, theirs: str, kept: bool, project: Path, run: Run
) -> None:
    user_settings_file().parent.mkdir(parents=True)
    user_settings_file().write_text(f"{mine}\n")
    (project / FILE_NAME).write_text(f"{theirs}\n")
    key = theirs.partition(":")[0]
    config = SkillLearnerConfig.load(project)
    is_theirs = config.origins[key] == f"file {project / FILE_NAME}"
    assert (is_theirs, len(config.warnings)) == (kept, not kept)
    if kept:
        assert "nothing that needs trust" in run("trust", "--yes").stdout
        return
    assert config.values()[key] == SkillLearnerConfig.load(None).values()[key]
    assert f"`{key}` is ignored" in config.warnings[0]
    assert f"{key}: " in run("trust", "--yes").stdout
    assert SkillLearnerConfig.load(project).origins[key] == f"file {project / FILE_NAME}"
