"""A session from the journal, from the transcript, and from both."""

from __future__ import annotations

import pytest

from skill_learner.errors import TranscriptError
from skill_learner.session_loader import load_session


def shape(session):
    return [(s.kind, s.call.status if s.call else s.text) for s in session.steps]


def test_the_journal_alone(journal):
    journal.event("SessionStart", source="startup").prompt("Build it")
    journal.bash_fails("t1", "make", "Exit code 2\nno rule")
    journal.tool("t2", "Edit", {"filePath": "/work/shop/Makefile"}, file_path="/work/shop/Makefile")
    journal.bash("t3", "make | tail", "make: *** [all] Error 2").stop("Built it.")
    session = load_session(journal.path)
    assert shape(session) == [
        ("human", "Build it"),
        ("tool", "failed"),
        ("tool", "ok"),
        ("tool", "suspect"),
        ("assistant", "Built it."),
    ]
    assert session.steps[1].call.result == "Exit code 2\nno rule"
    assert session.steps[2].call.changed_files == ("Makefile",)
    assert session.steps[1].source == "journal:4"
    assert (session.id, session.project, session.turn_end) == (
        journal.session,
        "/work/shop",
        "complete",
    )


def test_machine_turns_subagents_and_slash_commands(journal):
    journal.prompt("/greet bob").event(
        "UserPromptExpansion", command_name="greet", command_args="bob", prompt="/greet bob"
    )
    started = {"stdout": "", "backgroundTaskId": "b1"}
    journal.tool("t1", "Bash", started, command="sleep 9", run_in_background=True)
    journal.event("PostToolUse", tool_name="Bash", tool_input={}, tool_use_id="sub", agent_id="a1")
    journal.event("SubagentStop", agent_id="a1", last_assistant_message="inner")
    journal.event("PreCompact", trigger="auto").stop("started")
    journal.prompt(
        "<task-notification><tool-use-id>t1</tool-use-id><status>completed</status>"
        "<summary>done (exit code 1)</summary></task-notification>"
    )
    session = load_session(journal.path)
    assert shape(session) == [
        ("human", "/greet bob"),
        ("tool", "ok"),
        ("assistant", "started"),
        ("notice", "failed"),
    ]
    assert session.steps[1].call.background
    assert session.loaded_skills == {"greet"}


@pytest.mark.parametrize(
    ("last", "turn_end"),
    [
        (("Stop", {"last_assistant_message": "x"}), "complete"),
        (("StopFailure", {"error": "unknown"}), "api_error"),
        (("SessionEnd", {"reason": "other"}), "interrupted"),
        (("PreCompact", {}), "open"),
    ],
)
def test_how_the_last_turn_ended(journal, last, turn_end):
    journal.prompt("go").bash("t1", "ls")
    journal.event(last[0], **last[1])
    assert load_session(journal.path).turn_end == turn_end


def test_an_end_after_a_stop_changes_nothing(journal):
    journal.prompt("go").stop("done").event("SessionEnd", reason="other")
    assert load_session(journal.path).turn_end == "complete"


def test_an_interrupted_call_did_not_fail(journal):
    journal.prompt("go").bash_fails("t1", "sleep 99", "Exit code 137", is_interrupt=True)
    assert load_session(journal.path).steps[1].call.status == "interrupted"


def test_a_fork_that_only_the_journal_tells_of(journal):
    journal.event("SessionStart", source="fork").prompt("go")
    assert load_session(journal.path).parent == "unknown"


def test_the_transcript_alone(talk):
    talk.human("go").says("done").read()
    assert shape(load_session(None, talk.path)) == [("human", "go"), ("assistant", "done")]


@pytest.fixture
def both(talk, journal):
    """A transcript with a failure that fires no hook, and without the last call's result."""
    journal.transcript = str(talk.path)
    journal.prompt("go").bash("t1", "make", "built")
    talk.human("go").calls("t1", "Bash", command="make").result("t1", "built", error=False)
    talk.calls("t2", "Edit", file_path="/work/shop/a")
    talk.result("t2", "<tool_use_error>String to replace not found</tool_use_error>", error=True)
    diff = {"stdout": "x", "bashEditDiff": {"files": [{"filePath": "/work/shop/gen.go"}]}}
    journal.tool("t3", "Bash", diff, command="go generate")
    talk.calls("t3", "Bash", command="go generate")
    talk.read()
    return journal, talk


def test_the_journal_fills_what_the_transcript_lacks(both):
    journal, _ = both
    session = load_session(journal.path)
    assert shape(session) == [("human", "go"), ("tool", "ok"), ("tool", "failed"), ("tool", "ok")]
    last = session.steps[-1].call
    assert (last.result, last.changed_files) == ("x", ("gen.go",))
    assert session.source.endswith(".jsonl")
    assert session.project == "/work/shop"


def test_what_the_last_review_has_seen_is_old(both):
    journal, talk = both
    journal.stop("First done.")
    talk.says("First done.", message="m2")
    reviewed = journal.end
    journal.prompt("go").bash("t4", "make test", "ok").stop("Second done.")
    talk.human("go").calls("t4", "Bash", command="make test", message="m3")
    talk.result("t4", "ok", error=False).says("Second done.", message="m4").read()
    session = load_session(journal.path, reviewed_to=reviewed)
    assert session.steps[session.first_new_step - 1].text == "go"
    assert session.first_new_step == 6
    assert load_session(journal.path, reviewed_to=journal.end).first_new_step == 9
    assert load_session(journal.path).first_new_step == 1
    talk.path.unlink()
    assert load_session(journal.path, reviewed_to=reviewed).first_new_step == 5


def test_the_journal_wins_when_it_holds_more_calls(journal, talk):
    journal.transcript = str(talk.path)
    journal.prompt("go").bash("t1", "a").bash("t2", "b").stop("done")
    talk.human("go", forkedFrom={"sessionId": "elder"}).calls("t1", "Bash", command="a").read()
    session = load_session(journal.path)
    assert [s.kind for s in session.steps] == ["human", "tool", "tool", "assistant"]
    assert session.parent == "elder"


def test_the_journal_tells_of_an_api_error(both):
    journal, _ = both
    journal.event("StopFailure", error="server_error")
    assert load_session(journal.path).turn_end == "api_error"


@pytest.mark.parametrize("content", [None, b"", b"\xff\x00 not a transcript"])
def test_a_broken_transcript_is_no_obstacle(journal, talk, content):
    journal.transcript = str(talk.path)
    journal.prompt("go").stop("done")
    if content is not None:
        talk.path.write_bytes(content)
    assert shape(load_session(journal.path)) == [("human", "go"), ("assistant", "done")]


def test_a_broken_journal_is_no_obstacle(journal, talk):
    journal.append(b"\n{rubbish\n\xff")
    talk.human("go").read()
    assert shape(load_session(journal.path, talk.path)) == [("human", "go")]


def test_without_either_the_error_names_the_file(tmp_path):
    for journal, transcript in [
        (tmp_path / "j.jsonl", None),
        (None, tmp_path / "t.jsonl"),
        (None, None),
    ]:
        with pytest.raises(TranscriptError):
            load_session(journal, transcript)


def test_files_changed_from_a_subfolder_are_relative_to_the_worktree(talk, tmp_path):
    top = tmp_path / "repo"
    (top / ".git").mkdir(parents=True)
    (top / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (top / "web").mkdir()
    talk.common["cwd"] = str(top / "web")
    talk.human("go").calls("t1", "Write", file_path=str(top / "web" / "a.js"), content="")
    talk.result("t1", "ok").calls("t2", "Write", file_path=str(top / "b.js"), content="")
    session = load_session(None, talk.result("t2", "ok").read() and talk.path)
    assert session.project == str(top)
    assert [s.call.changed_files for s in session.steps[1:]] == [("web/a.js",), ("b.js",)]


@pytest.mark.parametrize("with_transcript", [False, True])
def test_a_session_of_a_subfolder_or_worktree_belongs_to_the_project_that_the_hooks_found(
    talk, journal, with_transcript
):
    for started_in in ("/work/shop/web", "/work/shop-of-a-branch"):
        talk.common["cwd"] = started_in
        talk.human("go").calls("t1", "Bash", command="make").result("t1", "ok").read()
        journal.transcript = str(talk.path) if with_transcript else ""
        journal.event("UserPromptSubmit", prompt="go", cwd=started_in)
        journal.event(
            "PostToolUse",
            cwd=started_in,
            tool_name="Bash",
            tool_input={"command": "make"},
            tool_response={"stdout": "ok", "stderr": ""},
            tool_use_id="t1",
        )
        assert load_session(journal.path).project == "/work/shop"


def test_the_recorded_payloads_make_a_session(shared, journal):
    import json

    for name in (
        "SessionStart-startup",
        "UserPromptSubmit",
        "PostToolUse-Bash",
        "PostToolUseFailure-Bash",
        "PostToolUse-Read",
        "PostToolUse-Edit",
        "PostToolUse-Write",
        "PostToolUse-Skill",
        "PostToolUse-Agent-async",
        "PostToolUse-Bash-in-subagent",
        "Stop",
        "SessionEnd-other",
    ):
        payload = json.loads((shared / "claude-code" / "payloads" / f"{name}.json").read_bytes())
        journal.data(payload["hook_event_name"], json.dumps(payload).encode())
    session = load_session(journal.path)
    assert shape(session) == [
        ("human", "first prompt"),
        ("tool", "ok"),
        ("tool", "failed"),
        *[("tool", "ok")] * 5,
        ("assistant", "first done"),
    ]
    assert session.steps[3].call.result == "hello\n"
    assert session.steps[7].call.background
    assert session.loaded_skills == {"hello-skill"}
