"""Sentences of a skill: causes, guesses, figures, counts and names of the day."""

from __future__ import annotations

import pytest
from session_builder import SessionBuilder

from skill_learner.learning.body_check import Ground, check_body
from skill_learner.learning.proof import collect
from skill_learner.learning.session_names import session_names
from skill_learner.models import Session


def _session() -> Session:
    return (
        SessionBuilder("0f3b6c1e-7a52-4c7e-9d65-1f1a2b3c4d5e")
        .human("The build is slow. Use homebrew-tap instead of homebrew-entire please")
        .bash("git checkout -b chore/slow-build", "Switched to a new branch 'chore/slow-build'")
        .bash("make build", "cache miss: rebuilding\nbuilt in 42.5 s")
        .edit("build.toml", "cache = false", "cache = true\ndebug_probe = 1")
        .bash("DEBUG_PROBE=1 make build", "debug_probe: 3 ms\nbuilt in 3.1 s")
        .edit("build.toml", "cache = true\ndebug_probe = 1", "cache = true")
        .edit("main.go", "f()", "f() //nolint:gosec")
        .bash("make lint", "main.go:3: G304: file inclusion (gosec)", "failed")
        .assistant("The disk is the bottleneck, the linker swaps. It takes about 900 ms to link.")
        .bash("git commit -m 'the linker is the culprit'", "[chore/slow-build 1a2b3c4d] done")
        .bash("pytest --cov-fail", "error: unrecognized arguments: --cov-fail", "failed")
        .bash("pytest -q", "12 passed")
        .session()
    )


@pytest.fixture(scope="module")
def ground() -> Ground:
    session = _session()
    return Ground(collect(session), session_names(session), frozenset({3, 5}))


def _left(line: str, ground: Ground, heading: str = "## Steps") -> str:
    body = check_body(f"{heading}\n- {line}\n", ground).body
    return body.split("\n", 1)[1].removeprefix("- ").strip() if "- " in body else ""


@pytest.mark.parametrize(
    "line",
    [
        "The disk is the bottleneck.",
        "It is likely slow due to the disk.",
        "Linking takes about 900 ms.",
        "The linker is the culprit.",
        "Set `cache_size` to 5.",
        "Set `rebuilding` to 1.",
        "A warm build takes 9.7 s.",
        "Run `DEBUG_PROBE=1 make build` with `debug_probe`.",
        "Commit on chore/slow-build.",
        "See commit 1a2b3c4d.",
        "There are 1589 findings.",
        "The backlog has nine open tickets.",
        "gosec reports G304.",
        "homebrew-entire is the tap.",
        "Run `pytest --cov-fail` first.",
        "Pass --fast-link to make.",
        "Session 0f3b6c1e-7a52-4c7e-9d65-1f1a2b3c4d5e showed it.",
        "Write to /tmp/report.txt.",
        "File has not been read yet: read it first.",
        "See #4711 and ABC-123.",
        "Pipe the installer into bash.",
        "Claude Opus did it.",
    ],
)
def test_what_is_taken_out(line: str, ground: Ground) -> None:
    assert _left(line, ground) == ""


@pytest.mark.parametrize(
    "line",
    [
        "Set `cache = true` in `build.toml`.",
        "`make build` then takes 3.1 s instead of 42.5 s.",
        "A warm build takes about 3 s.",
        "The tap is `homebrew-tap`.",
        "Run `pytest -q` last.",
        "`pytest --cov-fail` fails with `unrecognized arguments`: leave it out.",
        "Look at the output twice.",
        "UTF-8 and SHA-256 are fine, and so is Node.js.",
        "The cause is not verified.",
    ],
)
def test_what_stays_as_it_is(line: str, ground: Ground) -> None:
    assert _left(line, ground) == line


@pytest.mark.parametrize(
    ("line", "marked"),
    [
        ("The build is slow because the linker swaps.", "swaps (not verified)."),
        ("It is faster because objects are kept.", "kept (not verified)."),
        ("Der Bau ist langsam, weil die Objekte nicht bleiben.", "bleiben (nicht geprüft)."),
        ("La construction est lente parce que les objets sont perdus.", "perdus (non vérifié)."),
        ("オブジェクトが失われるため、ビルドが遅い。", "遅い (未確認)。"),
        ("The cache strips symbols from objects.", "objects (not verified)."),
    ],
)
def test_causes_that_no_result_isolates_say_so(line: str, marked: str, ground: Ground) -> None:
    assert _left(line, ground).endswith(marked)


def test_a_cause_that_one_result_holds_stays(ground: Ground) -> None:
    line = "It was rebuilding because of a `cache miss`."
    assert _left(line, ground) == line


def test_counts_are_cut_out_of_sentences_that_say_more(ground: Ground) -> None:
    left = _left("`make build` in src/core touched 17 files (42 lines).", ground)
    assert "17" not in left
    assert "42" not in left
    assert "`make build` in src/core touched files" in left


def test_sections_marked_as_unverified_keep_guesses_but_no_names(ground: Ground) -> None:
    heading = "## Unverified"
    guess = "Not verified: the disk is likely to blame for `swap_rate`."
    assert _left(guess, ground, heading) == guess
    assert _left("Seen on chore/slow-build.", ground, heading) == ""


def test_only_the_sentence_at_fault_goes(ground: Ground) -> None:
    left = _left("Run `make build`. The disk is the bottleneck. Look twice.", ground)
    assert left == "Run `make build`. Look twice."


def test_an_order_loses_an_unproved_reason_and_stays(ground: Ground) -> None:
    line = "Run `make build` because the linker is the bottleneck."
    assert _left(line, ground) == "Run `make build`."


def test_that_something_is_not_the_cause_is_no_cause(ground: Ground) -> None:
    line = "`make lint` did not show the cause."
    assert _left(line, ground) == line


def test_what_does_not_exist_may_be_named(ground: Ground) -> None:
    line = "There is no `cache_mode`, it was invented."
    assert _left(line, ground) == line


def test_the_humans_words_are_not_questioned(ground: Ground) -> None:
    body = "> Keep at least 20 tests because I say so.\n"
    assert check_body(body, ground, human=True).body == body
