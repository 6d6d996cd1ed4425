from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from skill_learner import providers
from skill_learner.cli import init as init_module
from skill_learner.cli.group import cli
from skill_learner.config import SkillLearnerConfig, user_settings_file
from skill_learner.consent import load_consent
from skill_learner.models import Skill
from skill_learner.wiring import reviewer_name

Run = Callable[..., Result]
RunJson = Callable[..., Any]
Add = Callable[..., Skill]


def tree(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def consented() -> str:
    consent = load_consent(SkillLearnerConfig.load().paths)
    return consent.provider if consent else ""


@pytest.fixture
def claude_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(providers, "is_usable", lambda name, config, env: name == "claude-cli")


def test_init_shows_what_it_wrote_and_how_to_undo(run: Run, project: Path) -> None:
    shown = run("init", "--target", "claude-code").stdout
    for part in ("settings.json", "CLAUDE.md", "SKILL.md", "hook.sh", "uninstall"):
        assert part in shown
    assert "Nothing leaves it" in shown
    assert "nudge_interval=10" in (SkillLearnerConfig.load().paths.hook_conf).read_text()
    assert (project / ".claude" / "settings.json").is_file()


def test_init_twice_is_init_once(run: Run, project: Path) -> None:
    run("init", "--target", "claude-code")
    once = tree(project)
    run("init", "--target", "claude-code")
    assert tree(project) == once


def test_hooks_are_told_a_projects_own_interval(run: Run, project: Path, add_skill: Add) -> None:
    (project / "skill-learner.yaml").write_text("nudge_interval: 40\n")
    run("init", "--target", "claude-code")
    key = add_skill("any").scope
    conf = SkillLearnerConfig.load().paths.hook_conf
    lines = conf.read_text().splitlines()
    assert "nudge_interval=10" in lines
    assert f"nudge_interval.{key}=40" in lines
    (project / "skill-learner.yaml").write_text("nudge_interval: 1\n")  # every call a review
    run("list")
    assert f"nudge_interval.{key}" not in conf.read_text()
    run("trust", "--yes")
    run("list")
    assert f"nudge_interval.{key}=1" in conf.read_text().splitlines()
    (project / "skill-learner.yaml").write_text("nudge_interval: [\n")
    run("list")
    assert f"nudge_interval.{key}" not in conf.read_text()


def test_dry_run_writes_nothing(run: Run, project: Path, hermetic_home: Path) -> None:
    before = tree(project)
    shown = run("init", "--target", "claude-code", "--dry-run").stdout
    assert "settings.json" in shown
    assert tree(project) == before
    assert tree(hermetic_home) == {}


def test_uninstall_leaves_the_project_as_it_was(
    run: Run, project: Path, add_skill: Add, run_json: RunJson
) -> None:
    (project / "CLAUDE.md").write_text("# Mine\n")
    before = tree(project)
    run("init", "--target", "claude-code")
    add_skill("build-site")
    run("uninstall", "--target", "claude-code")
    assert tree(project) == before
    assert [row["name"] for row in run_json("list")] == ["build-site"]


def test_init_gives_what_the_library_knows_already(run: Run, project: Path, add_skill: Add) -> None:
    add_skill("build-site")
    run("init", "--target", "claude-code")
    assert (project / ".claude" / "skills" / "build-site" / "SKILL.md").is_file()


def test_a_user_wide_install_gives_user_wide_skills(
    run: Run, hermetic_home: Path, add_skill: Add
) -> None:
    run("init", "--target", "claude-code", "--user")
    add_skill("everywhere", "candidate", scope="user")
    run("approve", "everywhere")
    assert (hermetic_home / ".claude" / "skills" / "everywhere" / "SKILL.md").is_file()
    assert "everywhere" in (hermetic_home / ".claude" / "CLAUDE.md").read_text()


def test_purge_asks_first(run: Run, project: Path, add_skill: Add) -> None:
    run("init", "--target", "claude-code")
    add_skill("build-site")
    state = SkillLearnerConfig.load().state_dir
    run("uninstall", "--target", "claude-code", "--purge", stdin="n\n", code=1)
    assert state.exists()
    run("uninstall", "--target", "claude-code", "--purge", "--yes")
    assert not state.exists()


def test_a_library_that_lies_elsewhere_stays_and_purging_says_where(
    run: Run, project: Path, add_skill: Add, tmp_path: Path
) -> None:
    library = tmp_path / "shared" / "skills"
    user_settings_file().parent.mkdir(parents=True, exist_ok=True)
    user_settings_file().write_text(f"skills_dir: {library}\n")
    run("init", "--target", "claude-code")
    add_skill("build-site")
    own = library / "mine" / "SKILL.md"
    own.parent.mkdir()
    own.write_text("of my own")
    before = {path for path in tree(library) if "sqlite" not in path}
    shown = run("uninstall", "--target", "claude-code", "--purge", stdin="y\n").output
    assert f"The library in {library} stays." in shown
    assert f"the library stays in {library}" in shown
    assert not SkillLearnerConfig.load().state_dir.exists()
    assert before <= set(tree(library))


@pytest.mark.parametrize("link", [False, True])
def test_purging_tells_of_a_library_elsewhere_only_where_one_stays(
    run: Run, project: Path, add_skill: Add, tmp_path: Path, link: bool
) -> None:
    state = SkillLearnerConfig.load().state_dir
    run("init", "--target", "claude-code")
    if link:
        (tmp_path / "far").mkdir()
        (state / "skills").symlink_to(tmp_path / "far")
    add_skill("build-site")
    shown = run("uninstall", "--target", "claude-code", "--purge", "--yes").output
    assert (f"library stays in {tmp_path / 'far'}" in shown) == link
    assert not state.exists()
    assert (tmp_path / "far" / "build-site").exists() == link


def test_purging_with_the_installs_that_are_gone_waits_for_the_others(
    run: Run, project: Path, tmp_path: Path
) -> None:
    run("init", "--target", "claude-code")
    refused = run("uninstall", "--gone", "--purge", "--yes", code=3)
    assert "other installs still use" in refused.stderr
    assert SkillLearnerConfig.load().state_dir.is_dir()
    run("uninstall", "--all", "--purge", "--yes")
    assert not SkillLearnerConfig.load().state_dir.exists()


def test_unknown_targets_and_providers_are_named(run: Run) -> None:
    assert "claude-code" in run("init", "--target", "notepad", code=3).stderr
    result = run("init", "--target", "claude-code", "--provider", "gpt", code=2)
    assert "claude-cli" in result.stderr


@pytest.mark.usefixtures("claude_is_there")
def test_without_a_terminal_nothing_may_leave(run: Run) -> None:
    shown = run("init", "--target", "claude-code").stdout
    assert "Anthropic, by your own `claude` login" in shown
    assert "Reviewer: offline" in shown
    assert consented() == ""
    assert reviewer_name(SkillLearnerConfig.load(), {}) == "offline"


@pytest.mark.usefixtures("claude_is_there")
@pytest.mark.parametrize("options", [["--yes"], ["--provider", "claude-cli"]])
def test_leave_given_by_option_is_recorded(run: Run, options: list[str]) -> None:
    run("init", "--target", "claude-code", *options)
    assert consented() == "claude-cli"
    assert reviewer_name(SkillLearnerConfig.load(), {}) == "claude-cli"
    assert "as you chose before" in run("init", "--target", "claude-code").stdout


@pytest.mark.usefixtures("claude_is_there")
@pytest.mark.parametrize(("answer", "chosen"), [("y\n", "claude-cli"), ("n\n", "offline")])
def test_a_person_is_asked_once(
    answer: str, chosen: str, run: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(init_module, "is_interactive", lambda: True)
    asked = CliRunner().invoke(cli, ["init", "--target", "claude-code"], input=answer)
    assert "Ceilings: at most 20 reviews" in asked.stdout
    assert consented() == chosen
    again = CliRunner().invoke(cli, ["init", "--target", "claude-code"], input="")
    assert again.exit_code == 0, again.output
    assert "Use claude-cli" not in again.stdout


@pytest.mark.usefixtures("claude_is_there")
@pytest.mark.parametrize("more", [[], ["--yes"]])
def test_an_answer_stands_although_another_provider_would_be_offered_first(
    more: list[str], run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "not-a-key")
    monkeypatch.setattr(providers, "is_usable", lambda name, *_: name in ("openai", "claude-cli"))
    run("init", "--target", "claude-code", "--provider", "openai")
    shown = run("init", "--target", "claude-code", *more).stdout
    assert "Reviewer: openai, as you chose before" in shown
    assert consented() == "openai"


def test_a_chosen_provider_that_cannot_work_yet_is_told(run: Run) -> None:
    shown = run("init", "--target", "claude-code", "--provider", "command")
    assert "command cannot work yet: it needs the setting `command`" in shown.stderr
    assert reviewer_name(SkillLearnerConfig.load(), {}) == "offline"


@pytest.mark.parametrize("given", [["--provider", "command"], []])
def test_a_command_with_an_open_quote_is_refused_before_anything_is_written(
    given: list[str], run: Run, project: Path, hermetic_home: Path
) -> None:
    file = user_settings_file()
    file.parent.mkdir(parents=True)
    file.write_text("command: my-model 'open\n" + "provider: command\n" * (not given))
    refused = run("init", "--target", "claude-code", *given, code=2).stderr
    assert str(file) in refused
    assert "close the quote" in refused
    assert not (project / ".claude").exists()
    assert not (hermetic_home / ".skill_learner").exists()
    if not given:
        assert "No closing quotation" in run("doctor", code=1).output


@pytest.mark.parametrize("scope", [[], ["--user"], ["--local"]])
def test_the_command_that_init_names_undoes_it(
    scope: list[str], run: Run, project: Path, hermetic_home: Path
) -> None:
    shown = run("init", "--target", "claude-code", *scope).stdout
    named = shown.rpartition("To undo: skill-learner ")[2].split()
    run(*named)
    left = [*project.rglob(".claude/**/*"), *hermetic_home.rglob(".claude/**/*")]
    assert left == []


def test_a_provider_in_the_users_own_file_is_leave(run: Run) -> None:
    file = user_settings_file()
    file.parent.mkdir(parents=True)
    file.write_text("provider: command\ncommand: my-model --json\n")
    shown = run("init", "--target", "claude-code").stdout
    assert f"Reviewer: command, as set by file {file}" in shown
    assert consented() == ""


def test_relink_carries_skills_to_the_new_place(
    run: Run, run_json: RunJson, project: Path, add_skill: Add, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("init", "--target", "claude-code")
    add_skill("build-site")
    by_hand = Path(add_skill("deploy-site", body="Ask first.\n").path)
    by_hand.write_text(by_hand.read_text() + "Then ask again.\n")
    add_skill("test-site")
    run("reject", "test-site")
    moved = project.parent / "renamed"
    project.rename(moved)
    monkeypatch.chdir(moved)
    assert run_json("search", "build-site") == []
    shown = run("project", "relink", str(project), str(moved)).stdout
    assert "3 skills" in shown
    assert {row["name"] for row in run_json("search", "site")} == {"build-site", "deploy-site"}
    run("approve", "test-site")
    assert "test-site" in {row["name"] for row in run_json("search", "site")}
    assert (moved / ".claude" / "skills" / "build-site" / "SKILL.md").is_file()


def test_approve_publishes_to_the_project(run: Run, project: Path, add_skill: Add) -> None:
    run("init", "--target", "claude-code")
    add_skill("build-site", "candidate")
    link = project / ".claude" / "skills" / "build-site"
    assert not link.exists()
    run("approve", "build-site")
    assert (link / "SKILL.md").is_file()
    assert "build-site" in (project / "CLAUDE.md").read_text()
    run("reject", "build-site")
    assert not link.exists()
    assert "build-site" not in (project / "CLAUDE.md").read_text()


def test_broken_settings_stay_untouched(run: Run, project: Path) -> None:
    settings = project / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{\n  "a": 1, // why\n}\n')
    result = run("init", "--target", "claude-code", code=3)
    assert f"{settings}" in result.stderr
    assert "hint:" in result.stderr
    assert settings.read_text() == '{\n  "a": 1, // why\n}\n'
    assert json.loads(run("status", "--json").stdout)["installs"] == []


def test_purging_without_a_terminal_names_the_option_that_agrees(run: Run, project: Path) -> None:
    run("init", "--target", "claude-code")
    refused = run("uninstall", "--target", "claude-code", "--purge", code=1)
    assert "--yes" in refused.stderr
    assert (project / ".claude" / "settings.json").exists()
    run("uninstall", "--target", "claude-code", "--purge", stdin="y\n")
    assert not (project / ".claude").exists()


def test_two_scopes_at_once_are_refused(run: Run, project: Path) -> None:
    refused = run("init", "--target", "claude-code", "--user", "--local", code=2)
    assert "run init once for each" in refused.stderr
    assert not (project / ".claude").exists()
