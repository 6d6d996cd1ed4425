"""What an address of a git repository means: a host or a folder, a name or a secret."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result
from remote_homes import MakeHome, empty_repository, git, home_maker

from skill_learner.cli.group import cli
from skill_learner.config import user_settings_file
from skill_learner.remotes import git_address
from skill_learner.remotes.git_address import address, compare_line, is_path


@pytest.fixture
def engine() -> str:
    return "git"


@pytest.fixture
def ssh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What an ssh was asked to run; it runs that on this machine, if it is one of git's."""
    log = tmp_path / "ssh.log"
    program = tmp_path / "ssh"
    program.write_text(
        "#!/bin/sh\n"
        f"echo \"$@\" >>'{log}'\n"
        "while [ $# -gt 1 ]; do shift; done\n"
        'case "$1" in git-*) eval "$1" ;; *) echo "no such command: $1" >&2; exit 128 ;; esac\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("GIT_SSH_COMMAND", str(program))
    monkeypatch.setenv("GIT_SSH_VARIANT", "ssh")
    return log


def run(*arguments: str, code: int = 0) -> Result:
    result = CliRunner().invoke(cli, arguments)
    assert result.exit_code == code, result.output
    return result


def kept_url() -> str:
    settings = yaml.safe_load(user_settings_file().read_text())
    return str(settings["remotes"]["team"]["url"])


@pytest.mark.parametrize(
    ("url", "given"),
    [
        ("git+ssh://git@example.org/team/skills.git", "ssh://git@example.org/team/skills.git"),
        ("git@example.org:team/skills.git", "git@example.org:team/skills.git"),
        ("git@example.org:/srv/skills.git", "git@example.org:/srv/skills.git"),
        ("example.org:~/skills.git", "example.org:~/skills.git"),
        ("[::1]:srv/skills.git", "[::1]:srv/skills.git"),
        ("[git@example.org:2222]:skills.git", "[git@example.org:2222]:skills.git"),
        ("https://example.org/skills.git", "https://example.org/skills.git"),
        ("git+file:///srv/skills.git", "file:///srv/skills.git"),
        ("/srv/skills.git", "/srv/skills.git"),
        ("/srv/odd:name/x.git", "/srv/odd:name/x.git"),
    ],
)
def test_addresses_are_what_git_takes(url: str, given: str) -> None:
    assert address(url) == given
    assert is_path(given) == given.startswith(("/", "file:"))


def test_a_drive_is_no_host_where_there_are_drives(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not is_path("C:/srv/skills.git")
    monkeypatch.setattr(git_address, "ON_WINDOWS", True)
    assert is_path("C:/srv/skills.git")
    assert not is_path("git@example.org:/srv/skills.git")


@pytest.mark.parametrize(
    "where",
    [
        "ssh://git@example.org/team/skills.git",
        "git@example.org:team/skills.git",
        "git@example.org:/team/skills.git",
        "[git@example.org:2222]:team/skills.git",
        "git@[example.org]:team/skills.git",
    ],
)
def test_compare_lines_lead_to_the_difference(where: str) -> None:
    wanted = "https://example.org/team/skills/compare/main...skill-learner/m-1"
    assert compare_line(where, "main", "skill-learner/m-1") == wanted


def test_of_a_folder_the_difference_is_in_the_folder() -> None:
    assert compare_line("/srv/x.git", "main", "b") == "git log -p main..b (in /srv/x.git)"
    assert compare_line("file:///a%20b", "main", "b") == "git log -p main..b (in /a b)"
    assert compare_line("[::1]:x", "main", "b") == "https://[::1]/x/compare/main...b"


@pytest.mark.process
@pytest.mark.parametrize("form", ["git@host:{}", "host:{}", "[::1]:{}", "[git@host:2222]:{}"])
def test_a_host_with_a_path_from_the_root_on_is_reached_by_ssh(
    form: str, bare: Path, ssh: Path, tmp_path: Path
) -> None:
    one = home_maker(str(bare), tmp_path)("one")
    one.add("deploy")
    one.sync()
    run("remote", "add", "team", form.format(bare), "--trust", "all")
    assert kept_url() == form.format(bare)
    assert "deploy" in run("sync", "team").output
    assert f"git-upload-pack '{bare}'" in ssh.read_text()


@pytest.mark.process
def test_the_user_says_which_ssh_it_is(
    bare: Path, ssh: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("remote", "add", "team", f"ssh://git@host:2222{bare}")
    assert "nothing to do" in run("sync", "team").output
    monkeypatch.setenv("GIT_SSH_VARIANT", "simple")  # one that cannot be told of a port
    assert "cannot be reached" in run("sync", "team", code=8).output


@pytest.mark.process
def test_a_folder_that_does_not_exist_yet_is_the_one_of_where_it_was_added(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in ("one", "two"):
        (tmp_path / place).mkdir()
    monkeypatch.chdir(tmp_path / "one")
    run("remote", "add", "team", "team.git")
    for place in ("one", "two"):
        empty_repository(tmp_path / place / "team.git")
    monkeypatch.chdir(tmp_path / "two")
    assert kept_url() == str(tmp_path / "one" / "team.git")
    shutil.rmtree(tmp_path / "one" / "team.git")
    assert str(tmp_path / "one" / "team.git") in run("sync", "team", code=8).output


def test_a_home_of_nobody_is_said() -> None:
    result = run("remote", "add", "team", "~nobody-of-that-name/h.git", code=2)
    assert "nobody here has the folder '~nobody-of-that-name'" in result.output
    assert not user_settings_file().exists()


@pytest.mark.parametrize("url", ["file://team.git", "file://there/srv/team.git", "file://~/x"])
def test_an_address_of_a_file_without_a_folder_is_refused(url: str) -> None:
    assert "file:///folder" in run("remote", "add", "team", url, code=2).output


@pytest.mark.process
@pytest.mark.parametrize("form", ["file://{}", "git+file://localhost{}"])
def test_an_address_of_a_file_is_read_as_git_reads_it(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = empty_repository(tmp_path / "with space.git")
    one = home_maker(str(bare), tmp_path)("one")
    one.add("deploy")
    one.sync()
    encoded = str(bare).replace(" ", "%20")
    run("remote", "add", "team", form.format(encoded), "--trust", "all")
    assert "deploy" in run("sync", "team").output
    assert git(bare, "log", "--format=%s").count("\n") == 1


@pytest.mark.process
@pytest.mark.parametrize("key", ["insteadOf", "pushInsteadOf"])
def test_what_the_user_s_git_sends_over_ssh_is_pushed_with_a_command_that_servers_know(
    key: str,
    make_home: MakeHome,
    bare: Path,
    ssh: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings = tmp_path / "gitconfig"
    beginnings = "".join(f"  {key} = {text}\n" for text in ("/", f"{bare.parent}/"))
    settings.write_text(f'[url "git@host:{bare.parent}/"]\n{beginnings}')
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    one = make_home("one")
    one.add("deploy")
    assert [item.outcome for item in one.sync().outcomes] == ["sent"]
    assert f"git-receive-pack '{bare}'" in ssh.read_text()


@pytest.mark.process
def test_what_the_user_s_git_keeps_in_a_folder_runs_no_hook_there(
    bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = tmp_path / "gitconfig"
    settings.write_text(f'[url "{bare.parent}/"]\n  insteadOf = git@host:\n')
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    hook = bare / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    one = home_maker("git@host:team.git", tmp_path)("one")
    one.add("deploy")
    assert [item.outcome for item in one.sync().outcomes] == ["sent"]


@pytest.mark.parametrize(
    "user", ["me", "me%40example.org", "firstname.lastname1984", "gitlab+deploy-token-12345"]
)
def test_a_user_name_is_no_secret(user: str) -> None:
    run("remote", "add", "team", f"https://{user}@example.org/x.git")
    assert kept_url() == f"https://{user}@example.org/x.git"


@pytest.mark.parametrize(
    "token",
    [
        "ghp_" + "aB3" * 12,
        "glpat-" + "aB3dE5fG7hI9jK1lM3nO",
        "01234567" * 5,
        "7xq3nlp4aw5mkd2jv6hrt8ys9zc0bfeg1uoi7xq3nlp4aw5mkd2j",
    ],
)
def test_a_token_in_place_of_a_user_name_is_refused(token: str) -> None:
    result = run("remote", "add", "team", f"https://{token}@example.org/x.git", code=2)
    assert "looks like a token" in result.output
    assert token not in result.output
    assert not user_settings_file().exists()
