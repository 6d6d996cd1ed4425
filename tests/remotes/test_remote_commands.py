"""`skill-learner remote` and `skill-learner sync`, as a person uses them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from remote_homes import MakeHome, git, home_maker, proposal_branches

from skill_learner.cli.group import cli
from skill_learner.config import user_settings_file
from skill_learner.errors import ConfigError
from skill_learner.remotes.settings import remote_settings, settings_of
from skill_learner.remotes.settings_text import with_remote, without_remote


@pytest.fixture
def engine() -> str:
    return "git"


def run(*arguments: str, code: int = 0) -> Result:
    result = CliRunner().invoke(cli, arguments)
    assert result.exit_code == code, result.output
    return result


def run_json(*arguments: str) -> Any:
    return json.loads(run(*arguments, "--json").stdout)


@pytest.mark.process
def test_a_remote_is_added_synced_listed_and_removed(git_url: str, tmp_path: Path) -> None:
    other: MakeHome = home_maker(git_url, tmp_path)
    one = other("one")
    one.add("deploy")
    one.sync()
    user_settings_file().parent.mkdir(parents=True, exist_ok=True)
    user_settings_file().write_text("# mine\nnudge_interval: 7  # often\n")
    run("remote", "add", "team", git_url, "--trust", "all", "--tag", "x")
    run("remote", "add", "team", git_url, "--trust", "all")
    assert "often" in user_settings_file().read_text()
    assert [r["outcome"] for r in run_json("sync", "team", "--dry-run")[0]["outcomes"]] == [
        "would be new"
    ]
    assert "deploy" in run("sync").output
    assert "nothing to do" in run("sync", "team").output
    assert [s["name"] for s in run_json("list")] == ["deploy"]
    assert "via team" in run("show", "deploy").output
    row = run_json("remote", "list")[0]
    assert (row["name"], row["trust"], row["error"]) == ("team", "all", "")
    assert row["synced_at"]
    assert "remote team: last sync" in run("status").output
    run("remote", "remove", "team")
    assert user_settings_file().read_text().startswith("# mine\nnudge_interval: 7  # often\n")
    assert run_json("remote", "list") == []
    assert [s["name"] for s in run_json("list")] == ["deploy"]
    run("sync", "team", code=2)


@pytest.mark.process
def test_nothing_of_a_remote_is_in_the_way_when_all_is_purged(
    git_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    run("init", "--target", "claude-code")
    run("remote", "add", "team", git_url)
    run("sync")
    shown = run("uninstall", "--target", "claude-code", "--purge", "--yes").output
    assert "not ours" not in shown
    assert not (Path.home() / ".skill_learner").exists()


@pytest.mark.process
def test_an_unreachable_remote_is_said_by_sync_and_status(tmp_path: Path) -> None:
    run("remote", "add", "team", str(tmp_path / "nowhere.git"))
    assert "cannot be reached" in run("sync", code=8).output
    assert "cannot be reached" in run("status").output
    assert run("list").exit_code == 0


@pytest.mark.process
def test_a_declined_proposal_is_said_and_made_again_only_when_asked(
    bare: Path, git_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = home_maker(git_url, tmp_path)("one")
    first.add("deploy")
    first.sync()
    monkeypatch.setenv("SKILL_LEARNER_STATE_DIR", str(tmp_path / "mine"))
    home_maker(git_url, tmp_path)("mine").add("other")
    git(bare, "config", "receive.denyCurrentBranch", "refuse")
    git(bare, "config", "core.bare", "false")
    run("remote", "add", "team", git_url, "--trust", "all")
    assert "proposed on branch" in run("sync", "team").output
    branch = proposal_branches(bare)
    git(bare, "branch", "-D", branch)
    assert "declined" in " ".join(run("sync", "team").output.split())
    assert "other: declined: the branch that proposed it was deleted" in run("status").output
    assert "declined" in run("why", "other").output
    assert "choose one" in run("sync", "team", "--again", "--dry-run", code=2).output
    assert "proposed on branch" in run("sync", "team", "--again").output
    assert proposal_branches(bare) == branch


@pytest.mark.process
def test_why_tells_of_a_skill_by_its_name(git_url: str, tmp_path: Path) -> None:
    one = home_maker(git_url, tmp_path)("one")
    one.add("deploy")
    one.sync()
    person = tmp_path / "person"
    git(tmp_path, "clone", "--quiet", git_url, str(person))
    (person / "skills" / "broken").mkdir()
    (person / "skills" / "broken" / "SKILL.md").write_text("---\n")
    git(person, "add", "--all")
    git(person, "commit", "--quiet", "-m", "by hand")
    git(person, "push", "--quiet")
    run("remote", "add", "team", git_url, "--trust", "all")
    key = "AKIA" + "QYLPMN5HHHFPZZZZ"
    run("remember", "--name", "secret", "--when", "Use when the login of the shop fails.", "Try.")
    run("approve", "secret")
    file = Path(run_json("show", "secret")["path"])
    file.write_text(file.read_text() + f"\n{key}\n")
    run("sync")
    assert "team: deploy is shared" in run("why", "deploy").output
    assert "team: secret stays at home: it holds" in run("why", "secret").output
    assert "team: its broken was not taken: " in run("why", "broken").output
    assert [s["step"] for s in run_json("why", "deploy")["stations"]] == ["file", "sync"]
    assert "no session 'nothing' was recorded" in run("why", "nothing", code=6).output
    file.write_bytes(b"")
    run("sync")
    assert "the file is empty" in run("why", "secret").output


@pytest.mark.process
def test_a_folder_that_is_gone_keeps_nobody_from_syncing(
    git_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = home_maker(git_url, tmp_path)("one")
    one.add("deploy")
    one.sync()
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    here.rmdir()
    run("remote", "add", "team", git_url, "--trust", "all")
    assert "deploy" in run("sync").output
    told = run("remote", "add", "team", "team.git", code=1).output
    assert told == "error: the folder that you are in is gone\nhint: cd to one that exists\n"


@pytest.mark.process
def test_a_sync_shows_editors_what_a_killed_one_had_changed(
    git_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = home_maker(git_url, tmp_path)("one")
    one.add("deploy")
    one.sync()
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    run("init", "--target", "claude-code", "--provider", "offline")
    run("remote", "add", "team", git_url, "--trust", "all")

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("skill_learner.cli.sync.publish_scope", killed)
        assert CliRunner().invoke(cli, ["sync"]).exit_code != 0
    link = project / ".claude" / "skills" / "deploy"
    assert [s["name"] for s in run_json("list")] == ["deploy"]
    assert not link.exists()
    with monkeypatch.context() as patch:
        patch.setattr("skill_learner.cli.sync.publish_scope", lambda *_: False)
        run("sync")
    run("sync")
    assert (link / "SKILL.md").is_file()
    assert not run_json("sync")[0]["changed_home"]


@pytest.mark.process
def test_what_can_be_done_about_a_fault_is_said_with_it(git_url: str, tmp_path: Path) -> None:
    one = home_maker(git_url, tmp_path)("one")
    one.add("deploy")
    one.sync()
    run("remote", "add", "team", git_url, "--trust", "all")
    run("sync")
    (Path(git_url) / "refs" / "heads" / "main").unlink()
    assert "name another one with `branch:`" in run("sync", code=8).output


@pytest.mark.process
def test_the_detached_process_syncs_what_is_due(git_url: str, tmp_path: Path) -> None:
    one = home_maker(git_url, tmp_path)("one")
    one.add("deploy")
    one.sync()
    run("remote", "add", "team", git_url, "--every", "3600", "--trust", "all")
    from skill_learner.config import SkillLearnerConfig
    from skill_learner.remote_wiring import sync_due

    config = SkillLearnerConfig.load()
    assert [report.remote for report in sync_due(config)] == ["team"]
    assert sync_due(config) == []
    assert run_json("list")[0]["name"] == "deploy"


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:secret@host/db",
        "postgresql://host/db?password=secret",
        "https://example.org/x.git?private_token=secret",
        "postgresql://host/db?oauth_client_secret=secret",
        "postgresql://me:hush#secret@host/db",
        "postgresql://me:hush?secret@host/db",
        "postgresql://me:hush/secret@host/db",
        "postgresql://me@host/db#?password=secret",
        "POSTGRESQL://me:secret@host/db",
        "postgresql+psycopg://me:secret@host/db",
        "me:secret@example.org:x.git",
        "host=/run/postgresql password=secret dbname=x",
        "--upload-pack=touch /tmp/x",
        "ext::sh -c true",
        "",
        os.fsdecode(b"/srv/caf\xe9.git"),
        "/srv/two\nlines.git",
    ],
)
def test_addresses_with_passwords_or_programs_are_refused(url: str) -> None:
    result = CliRunner().invoke(cli, ["remote", "add", "team", "--", url])
    assert result.exit_code != 0
    assert "remotes: team: " in result.output
    assert "secret" not in result.output


@pytest.mark.parametrize(
    "url",
    [
        "postgresql:///skills",
        "postgresql://me@host:5432/db?options=a@b",
        "postgres://[::1]:5432/db?user=a@b",
        "postgresql://host:1,other:2/db?user=a@b",
    ],
)
def test_a_colon_before_a_port_is_no_password(url: str) -> None:
    assert remote_settings({"team": url})[0].url == url


def test_postgresql_is_known_however_its_scheme_is_written() -> None:
    settings = remote_settings({"team": "POSTGRESQL://host/db"})[0]
    assert (settings.engine, settings.url) == ("postgres", "postgresql://host/db")
    with pytest.raises(ConfigError) as caught:
        remote_settings({"team": "postgresql+psycopg://host/db"})
    assert "`postgresql://`" in caught.value.hint


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"team": {"direction": "both"}}, "url"),
        ({"team": {"url": "x", "trust": "some"}}, "trust"),
        ({"team": {"url": "x", "colour": 1}}, "colour"),
        ({"team": {"url": "x", "every": "often"}}, "every"),
        ({"team": {"url": "x", "branch": "../x"}}, "branch"),
        ({"team": {"url": "x", "states": ["archived"]}}, "states"),
        ({"Team": "x"}, "name"),
    ],
)
def test_wrong_settings_name_remote_and_key(given: dict[str, Any], word: str) -> None:
    with pytest.raises(ConfigError, match=word):
        remote_settings(given)


def test_an_unknown_remote_is_named_with_the_known_ones() -> None:
    with pytest.raises(ConfigError) as caught:
        settings_of({"team": "/x"}, "tema")
    assert "team" in caught.value.hint


def test_remotes_come_from_the_environment_too(monkeypatch: pytest.MonkeyPatch) -> None:
    from skill_learner.config import SkillLearnerConfig

    monkeypatch.setenv("SKILL_LEARNER_REMOTES", '{"fleet": "postgresql:///skills"}')
    assert SkillLearnerConfig.load().remotes == {"fleet": "postgresql:///skills"}
    monkeypatch.setenv("SKILL_LEARNER_REMOTES", "fleet")
    with pytest.raises(ConfigError, match="JSON"):
        SkillLearnerConfig.load()


def test_lines_around_a_remote_stay_as_they_are() -> None:
    text = "a: 1\nremotes:\n    # ours\n    old:\n        url: x\n\n    new: {url: y}\nb: 2 # c\n"
    assert without_remote(text, "old") == (
        "a: 1\nremotes:\n    # ours\n    new: {url: y}\nb: 2 # c\n"
    )
    added = with_remote(text, "third", {"url": "z"})
    assert added.replace('    third: {"url": "z"}\n', "") == text
    assert without_remote("a: 1\n", "x") == "a: 1\n"
    assert with_remote("", "x", {"url": "y"}) == 'remotes:\n  x: {"url": "y"}\n'
    emptied = without_remote('remotes:\n  x: {"url": "y"}\n', "x")
    assert with_remote(emptied, "x", {"url": "y"}) == 'remotes:\n  x: {"url": "y"}\n'
