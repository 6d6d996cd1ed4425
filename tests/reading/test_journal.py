"""Journals as the hooks leave them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from skill_learner.journal import journal_files, read_journal
from skill_learner.journal_retention import prune_journals
from skill_learner.marks import read_mark, read_mark_of, write_mark
from skill_learner.tally import unreviewed


def events(journal, start=0):
    return [record.event for record in read_journal(journal.path, start).records]


def test_records_and_their_envelope(journal):
    journal.prompt("go").bash("t1", "ls", "a")
    reading = read_journal(journal.path)
    first, second = reading.records
    assert (first.event, first.editor, first.project, first.project_key, first.client_pid) == (
        "UserPromptSubmit",
        "claude-code",
        "/work/shop",
        "shop-0001",
        4242,
    )
    assert first.at == 1_780_000_001
    assert first.text("prompt") == "go"
    assert second.payload["tool_response"]["stdout"] == "a"
    assert (first.line, second.line) == (2, 3)
    assert reading.end == second.end == journal.end
    assert reading.damaged == 0


def test_reading_goes_on_where_it_ended(journal):
    journal.prompt("one")
    end = read_journal(journal.path).end
    journal.prompt("two")
    reading = read_journal(journal.path, end)
    assert [record.text("prompt") for record in reading.records] == ["two"]
    assert read_journal(journal.path, reading.end).records == ()


def test_a_torn_line_is_skipped_counted_and_costs_no_other(journal):
    journal.prompt("one").append(b'\n{"v":1,"t":17800').prompt("two")
    reading = read_journal(journal.path)
    assert [record.text("prompt") for record in reading.records] == ["one", "two"]
    assert reading.damaged == 1


def test_a_torn_last_line_is_left_for_the_next_reading(journal):
    whole = journal.prompt("one").end
    journal.append(b'\n{"v":1,"t":178')
    reading = read_journal(journal.path)
    assert (len(reading.records), reading.damaged, reading.end) == (1, 1, whole)


def test_a_missing_journal_is_empty(state):
    reading = read_journal(state.journal_dir / "absent.jsonl")
    assert (reading.records, reading.damaged, reading.end) == ((), 0, 0)
    assert journal_files(state) == []


def test_a_cut_payload_tells_what_its_ends_hold(journal):
    head = (
        '{"session_id":"s","transcript_path":"/t.jsonl","hook_event_name":"PostToolUse",'
        '"tool_name":"Write","tool_input":{"file_path":"/work/shop/big.txt","content":"xxxx'
    )
    tail = 'xxx"},"tool_use_id":"toolu_9","duration_ms":5}'
    cut = json.dumps({"cut": 9_000_000, "head": head, "tail": tail})
    journal.data("PostToolUse", cut.encode())
    (record,) = read_journal(journal.path).records
    assert record.cut
    assert record.text("session_id") == "s"
    assert record.text("tool_name") == "Write"
    assert record.text("tool_use_id") == "toolu_9"
    assert record.payload["tool_input"] == {"file_path": "/work/shop/big.txt"}


def test_keys_inside_a_cut_tool_input_are_not_taken_for_the_payloads_own(journal):
    head = '{"hook_event_name":"PostToolUse","tool_name":"X","tool_input":{"session_id":"evil"'
    journal.data("PostToolUse", json.dumps({"cut": 9, "head": head, "tail": ""}).encode())
    (record,) = read_journal(journal.path).records
    assert record.text("session_id") == ""


def test_the_beginning_of_a_cut_prompt_is_kept(journal):
    head = (
        '{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":"look at \\"this\\" \\u00'
    )
    journal.data("UserPromptSubmit", json.dumps({"cut": 9, "head": head, "tail": ""}).encode())
    (record,) = read_journal(journal.path).records
    assert record.text("prompt") == 'look at "this" '


def test_a_damaged_payload_tells_what_it_can(journal):
    text = '{"session_id":"s","hook_event_name":"Stop","last_'
    journal.data("Stop", json.dumps({"damaged": text}).encode())
    journal.data("Stop", json.dumps({"damaged": "rubbish"}).encode())
    told, silent = read_journal(journal.path).records
    assert told.text("session_id") == "s"
    assert silent.payload is None


@pytest.mark.process
def test_the_hooks_own_records_are_read(state, journal, tmp_path):
    project = tmp_path / "sh\u00f6p"
    project.mkdir()
    state.root.mkdir()
    entry = Path(__file__).parents[2] / "hooks" / "entry.py"
    command = [sys.executable, "-I", "-S", entry, entry.parents[1], state.root, "claude-code"]
    environ = {
        "CLAUDE_PROJECT_DIR": str(project),
        "CLAUDE_CODE_SESSION_ID": journal.session,
        "SKILL_LEARNER_PAYLOAD_CAP": "4096",
    }
    common = f'"session_id": "{journal.session}", "cwd": "/",'.encode()
    small = b"{" + common + b'\n "hook_event_name": "PostToolUse", "tool_name": "B\xc3\xa4sh"}\n'
    large = b"{" + common + b'"tool_name":"Write","tool_input":{"content":"' + b"x" * 9000
    large += b'"},"tool_use_id":"t7"}'
    for payload in (small, large, b"no json"):
        subprocess.run(
            [*command, "PostToolUse"], input=payload, env=environ, check=True, timeout=30
        )
    first, second, third = read_journal(journal.path).records
    assert (first.project, first.text("tool_name")) == (str(project), "B\u00e4sh")
    assert (second.text("tool_name"), second.text("tool_use_id")) == ("Write", "t7")
    assert (first.cut, second.cut, third.payload) == (False, True, None)
    assert unreviewed(state, first.project_key) == 3


def test_what_counts_towards_a_review(journal):
    journal.prompt("go").bash("t1", "ls").bash_fails("t2", "make", "Exit code 1")
    journal.prompt("<task-notification>x</task-notification>").stop("done")
    journal.event("PostToolUse", tool_name="Bash", agent_id="a1")
    assert [r.counts for r in read_journal(journal.path).records] == [True] * 3 + [False] * 3


def test_old_journals_go_with_their_marks(journal, state):
    journal.prompt("go")
    write_mark(state, journal.session, journal.end)
    assert prune_journals(state, days=7) == 0
    long_ago = time.time() - 8 * 86_400
    os.utime(journal.path, (long_ago, long_ago))
    assert prune_journals(state, days=7) == 1
    assert not journal.path.exists()
    assert read_mark(state, journal.session) == 0


def test_marks_move_forward_only_and_survive_damage(journal, state):
    assert read_mark(state, "s/../1") == 0
    write_mark(state, "s/../1", 40)
    write_mark(state, "s/../1", 30)
    assert read_mark(state, "s/../1") == 40
    (mark,) = state.marks_dir.iterdir()
    assert json.loads(mark.read_bytes()) == {"to": 40}
    assert read_mark_of(state, state.journal_dir / f"{mark.stem}.jsonl") == 40
    for damage in (b"", b"[]", b'{"to":"x"}', b'{"to":-4}'):
        mark.write_bytes(damage)
        assert read_mark(state, "s/../1") == 0


def test_the_hook_reads_our_marks(state):
    from skill_learner.hook_runtime.follow_up import read_mark as hook_reads

    write_mark(state, "abc", 123)
    assert hook_reads(os.fsencode(state.root), b"abc") == 123
