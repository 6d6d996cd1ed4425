"""Which outputs of unflagged shell commands look like failures."""

from __future__ import annotations

import pytest

from skill_learner.transcripts.suspicion import hides_exit_code, looks_failed, only_reads


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("pytest -q | tail -5", "Traceback (most recent call last):\n  File"),
        ("npm test 2>&1 | head", "npm ERR! Test failed."),
        ("go test ./... | tail", "--- FAIL: TestX\nFAIL\tshop/x"),
        ("ls *.md | wc -l", "(eval):1: no matches found: *.md"),
        ("foo; true", "bash: foo: command not found"),
        ("foo || true", "/bin/sh: 1: foo: not found"),
        ("make; echo done", "make: *** [all] Error 2\ndone"),
        ("tsc --noEmit | tee log", "src/a.ts(3,7): error TS2322: Type"),
        ("npx eslint . | tail", "src/a.js:1:1 error no-undef"),
        ("cargo build 2>&1 | tail -3", "error[E0425]: cannot find value `x`"),
        ("npx jest | tail -4", "Tests:       1 failed, 3 passed, 4 total"),
        ("python -m pytest | tail -1", "==== 2 failed, 3 passed in 1.0s ===="),
    ],
)
def test_hidden_failures(command, output):
    assert looks_failed(command, output, exit_code_known=True)


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("pytest -q", "Traceback (most recent call last):"),  # exit code 0 is believed
        ("cat build.log | tail", "npm ERR! Test failed."),
        ("cd web && grep -rn Error . | head", "Error: old text"),
        ("git log --oneline | head", "FAIL the build on warnings"),
        ("pytest -q | tail -5", "12 passed in 0.5s"),
        ("npx jest | tail -4", "Tests:       4 passed, 4 total"),
        ("make | tee log", "Handling of error: cases documented"),
        ("go doc http.Error | head", "error: see below"),
    ],
)
def test_no_failure(command, output):
    assert not looks_failed(command, output, exit_code_known=True)


def test_without_a_reported_outcome_the_words_count():
    assert looks_failed("pytest", "Traceback (most recent call last):", exit_code_known=False)
    assert not looks_failed("cat log", "Traceback (most recent call last):", exit_code_known=False)


@pytest.mark.parametrize(
    ("command", "hides"),
    [
        ("make", False),
        ("make && make test", False),
        ("make | tail", True),
        ("make || true", True),
        ("make; echo x", True),
        ("make\necho x", True),
        ("grep 'a|b;c' file", False),
        ("set -o pipefail; make | tail", False),
        ("set -euo pipefail && make | tail", False),
        ("make &", True),
    ],
)
def test_what_hides_an_exit_code(command, hides):
    assert hides_exit_code(command) is hides


@pytest.mark.parametrize(
    ("command", "reads"),
    [
        ("cat a | head -3", True),
        ("cd x && LC_ALL=C grep -r y . | sort", True),
        ("sudo /usr/bin/tail -f log", True),
        ("Get-Content a.txt | Where-Object { $_ }", True),
        ("cat a && make", False),
        ("git diff", True),
        ("git push", False),
    ],
)
def test_commands_that_only_read(command, reads):
    assert only_reads(command) is reads
