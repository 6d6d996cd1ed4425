"""Commands that failed and later passed: what counts, and each filter that keeps junk out."""

from __future__ import annotations

import pytest
from session_builder import SessionBuilder

from skill_learner.learning.episodes import find_episodes
from skill_learner.learning.fixed_failures import find_fixed_failures

ERROR = (
    "Traceback (most recent call last):\n  File \"build.py\", line 12\nValueError: bad option 'x'"
)


def _fails(command: str = "python build.py", error: str = ERROR) -> SessionBuilder:
    return SessionBuilder().human("build it").bash(command, f"Exit code 1\n{error}", "failed")


def test_failure_edit_pass_is_one_episode_with_its_evidence() -> None:
    session = (
        _fails()
        .bash("python build.py", ERROR, "failed")
        .edit("build.toml")
        .bash("python build.py", "built 3 pages")
        .session()
    )
    (episode,) = find_fixed_failures(session)
    assert episode.steps == (2, 3, 4, 5)
    assert episode.command == episode.remedy == "python build.py"
    assert episode.error == "ValueError: bad option 'x'"
    assert episode.changed_files == ("build.toml",)


@pytest.mark.parametrize(
    ("failing", "error", "passing", "output"),
    [
        ("go build ./...", "main.go:4:2: undefined: foo", "go build -v ./...", ""),
        ("go build ./cmd/app", "main.go:4:2: undefined: foo", "go build ./...", ""),
        ("cd api && npx tsc", "src/a.ts(3,1): error TS2345: wrong type", "npx tsc", ""),
        ("cargo build 2>&1", "error[E0308]: mismatched types", "cargo build", "Finished dev"),
        ("make test", "main.c:3:5: error: expected ';'", "make test 2>&1 | tail -5", "12 passed"),
        ("mise run fmt && mise run lint", "a.go:1:2: undefined: x", "mise run lint", "0 issues."),
        ("env CI=1 pytest tests", "E   KeyError: 'id'", "pytest tests", "4 passed in 0.1s"),
    ],
)
def test_same_check_in_another_dress(failing: str, error: str, passing: str, output: str) -> None:
    session = _fails(failing, error).edit("src/x").bash(passing, output).session()
    assert len(find_fixed_failures(session)) == 1


@pytest.mark.parametrize(
    ("passing", "output"),
    [
        ("python build.py | tail -3", "done"),
        ("python build.py || true", "done"),
        ("python build.py; true", "done"),
        ("python build.py 2>&1 | head", ERROR),
        ("python build.py", ERROR),
        ("python serve.py", "ok"),
        ("cat build.py", "print(1)"),
    ],
)
def test_a_pass_that_nothing_shows_is_no_pass(passing: str, output: str) -> None:
    assert find_fixed_failures(_fails().edit("a").bash(passing, output).session()) == ()


def test_one_file_passing_does_not_fix_the_whole_suite() -> None:
    session = _fails("pytest", "E   KeyError: 'id'").edit("a").bash("pytest tests/a.py", "1 passed")
    assert find_fixed_failures(session.session()) == ()


def test_nothing_changed_in_between_is_a_flake() -> None:
    assert find_fixed_failures(_fails().bash("python build.py", "ok").session()) == ()
    looked = _fails().bash("git status", "clean").bash("python build.py", "ok")
    assert find_fixed_failures(looked.session()) == ()
    cosmetic = _fails("pytest -x", "E   KeyError: 'id'").bash("pytest -v", "4 passed")
    assert find_fixed_failures(cosmetic.session()) == ()


def test_an_edit_before_the_last_failure_alone_does_not_explain_the_pass() -> None:
    session = _fails().edit("a").bash("python build.py", ERROR, "failed").bash("python build.py")
    assert find_fixed_failures(session.session()) == ()


def test_another_command_or_another_form_is_a_change() -> None:
    missing = "ModuleNotFoundError: No module named 'yaml'"
    installed = _fails(error=missing).bash("pip install pyyaml", "done").bash("python build.py")
    (episode,) = find_fixed_failures(installed.session())
    assert episode.steps == (2, 3, 4)
    vacuous = (
        SessionBuilder()
        .human("test")
        .bash(
            "pnpm --filter api test -- --testPathPattern=auth.spec | tail",
            "No tests found, exiting",
        )
        .bash("pnpm --filter api test -- auth.spec 2>&1 | tail", "✓ logs in\nTests: 3 passed")
    )
    (episode,) = find_fixed_failures(vacuous.session())
    assert episode.remedy.startswith("pnpm --filter api test -- auth.spec")


@pytest.mark.parametrize(
    "error",
    [
        "npm ERR! code ENOTFOUND registry.npmjs.org",
        "curl: (6) Could not resolve host: example.org",
        "bash: flarp: command not found",
        "zsh: permission denied: ./build",
        "fatal: not a git repository (or any of the parent directories): .git",
        "bash: cd: web: No such file or directory",
        "(eval):1: no matches found: *.x",
        "(eval):1: parse error near `('",
        "Error: EACCES: permission denied, mkdir '/usr/lib'",
        "sandbox: operation not permitted",
        "Command timed out after 2m 0.0s",
        "python: can't open file 'build.py': [Errno 2] No such file or directory",
        "<tool_use_error>File has not been read yet. Read it first.</tool_use_error>",
        "<tool_use_error>String to replace not found in file.</tool_use_error>",
        "<tool_use_error>Sibling tool call errored</tool_use_error>",
    ],
)
def test_failures_of_the_machine_and_the_editor_are_no_lessons(error: str) -> None:
    session = _fails("npm run build", error).edit("package.json").bash("npm run build", "built")
    assert find_fixed_failures(session.session()) == ()


def test_looking_around_that_fails_is_no_check() -> None:
    session = _fails("grep -n foo src", "error: bad pattern").edit("a").bash("grep -n foo src", "1")
    assert find_fixed_failures(session.session()) == ()


def test_keys_are_equal_across_sessions_and_differ_between_errors() -> None:
    def run(project: str, line: str, error: str) -> tuple[str, str]:
        session = (
            SessionBuilder(project, project)
            .human("go")
            .bash(f"cd {project} && python build.py", error, "failed")
            .edit("build.toml")
            .bash("python3 build.py", f"took {line}s")
            .session()
        )
        (episode,) = find_fixed_failures(session)
        return episode.trigger_key, episode.remedy_key

    first = run("/home/a/shop", "3", "12:01 start\n/home/a/shop/b.py:12: ValueError: bad 'x' at 17")
    again = run("/srv/b/shop", "91", "23:59 start\n/srv/b/shop/b.py:99: ValueError: bad 'y' at 40")
    other = run("/srv/b/shop", "91", "23:59 start\n/srv/b/shop/b.py:99: KeyError: 'name'")
    assert first == again
    assert first[0] != other[0]


def test_what_an_earlier_review_saw_is_not_found_again() -> None:
    built = _fails().edit("a").bash("python build.py", "ok")
    assert len(find_episodes(built.session(first_new_step=4))) == 1
    assert find_episodes(built.session(first_new_step=5)) == ()
