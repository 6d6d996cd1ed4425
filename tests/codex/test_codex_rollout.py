"""Codex's rollouts as sessions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skill_learner.errors import TranscriptError
from skill_learner.models import Session, Step
from skill_learner.session_loader import load_session
from skill_learner.transcripts import read_transcript
from skill_learner.transcripts.past import codex_transcripts, recent_transcripts
from skill_learner.transcripts.patches import patch_call
from skill_learner.usage import UsageStore

ID = "01a22c85-0000-7000-8000-000000000002"
Record = tuple[str, dict[str, Any]]


def rollout(folder: Path, *records: Record, **meta: Any) -> Path:
    """A rollout file with a session_meta line in front."""
    head = ("session_meta", {"id": ID, "session_id": ID, "cwd": "/work/site", **meta})
    path = folder / f"rollout-2026-11-30T12-00-00-{ID}.jsonl"
    stamp = "2026-11-30T12:00:00.000Z"
    lines = [
        json.dumps({"timestamp": stamp, "ordinal": n, "type": kind, "payload": told})
        for n, (kind, told) in enumerate([head, *records])
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def user(text: str, kind: str = "user.text") -> Record:
    told: dict[str, Any] = {"content": [{"type": "input_text", "text": text}], "id": "m-1"}
    if kind:
        told["internal_chat_message_metadata_passthrough"] = {"content_item_kinds": [kind]}
    return "response_item", {"type": "message", "role": "user", **told}


def call(call_id: str, command: str) -> Record:
    arguments = json.dumps({"cmd": command})
    told = {"name": "exec_command", "arguments": arguments, "call_id": call_id}
    return "response_item", {"type": "function_call", **told}


def output(call_id: str, text: Any) -> Record:
    told = {"call_id": call_id, "output": text}
    return "response_item", {"type": "function_call_output", **told}


def patch(call_id: str, text: str) -> Record:
    told = {"name": "apply_patch", "input": text, "call_id": call_id}
    return "response_item", {"type": "custom_tool_call", **told}


def done(call_id: str, code: int, text: str = "", **more: Any) -> Record:
    told = {"aggregated_output": text, "exit_code": code, "status": "failed" if code else "ok"}
    item = {"type": "CommandExecution", "id": call_id, **told, **more}
    return "event_msg", {"type": "item_completed", "item": item}


def event(kind: str, **fields: Any) -> Record:
    return "event_msg", {"type": kind, **fields}


def read(folder: Path, *records: Record, **meta: Any) -> Session:
    return read_transcript(rollout(folder, *records, **meta))


def outcome(folder: Path, *records: Record) -> tuple[str, str]:
    """Status and result of the one call."""
    (step,) = [step for step in read(folder, *records).steps if step.call]
    assert step.call
    return step.call.status, step.call.result or ""


def words(session: Session) -> list[tuple[str, str]]:
    return [(step.kind, step.text) for step in session.steps if step.kind != "tool"]


def test_the_recorded_rollout(codex_payloads: Path) -> None:
    session = read_transcript(codex_payloads / "rollout-sample.jsonl")
    assert (session.editor, session.project) == ("codex", "/home/dev/project")
    assert (session.damaged, session.turn_end, session.parent) == (0, "complete", "")
    assert words(session) == [
        ("human", "third prompt"), ("assistant", "I will edit."), ("assistant", "FINAL-MARK-3"),
    ]  # fmt: skip
    calls = [step.call for step in session.steps if step.call]
    assert [(call.name, call.status, call.changed_files) for call in calls] == [
        ("Write", "ok", ("a.py",)),
        ("Edit", "ok", ("a.py",)),
        ("Edit", "failed", ()),
        ("Bash", "ok", ()),
        ("Bash", "interrupted", ()),
        ("update_plan", "failed", ()),
    ]
    assert calls[1].input["old_string"] == "print(1)"
    assert session.steps[2].source == "rollout-sample.jsonl:12"


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        ([done("c", 0, "fine\n")], ("ok", "fine\n")),
        ([done("c", 3, "bad\n")], ("failed", "Exit code 3\nbad\n")),
        ([done("c", -1, "half\n")], ("interrupted", "half\n")),
        ([done("c", 1, status="declined")], ("rejected", "User rejected the call")),
        ([output("c", "Wall time: 2.3 seconds\naborted by user")], ("interrupted", None)),
        ([output("c", "Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 2\n"
                      "Original token count: 1\nOutput:\nno\n")], ("failed", "Exit code 2\nno\n")),
        ([output("c", "Chunk ID: 1\nProcess exited with code 0\nOutput:\nyes\n")], ("ok", "yes\n")),
        ([output("c", "Chunk ID: 1\nProcess running with session ID 7\nOutput:\n")], ("ok", "")),
        ([output("c", '{"output":"no\\n","metadata":{"exit_code":1}}')],
         ("failed", "Exit code 1\nno\n")),
        ([output("c", "exec_command failed for `x`: No such file")], ("failed", None)),
        ([output("c", "Command blocked by PreToolUse hook: no. Command: ls")],
         ("interrupted", None)),
        ([], ("pending", "")),
    ],
)  # fmt: skip
def test_what_came_of_a_command(
    records: list[Record], expected: tuple[str, str | None], tmp_path: Path
) -> None:
    status, result = outcome(tmp_path, user("go"), call("c", "make"), *records)
    assert status == expected[0]
    assert expected[1] in (None, result)


def test_the_clients_word_on_a_command_comes_later_than_the_models(tmp_path: Path) -> None:
    running = output("c", "Chunk ID: 1\nProcess running with session ID 7\nOutput:\n")
    records = [user("go"), call("c", "make"), running, done("c", 2, "Error\n")]
    assert outcome(tmp_path, *records) == ("failed", "Exit code 2\nError\n")


def test_what_the_client_put_into_the_users_mouth_is_not_theirs(tmp_path: Path) -> None:
    skill = "<skill>\n<name>build-it</name>\n<path>/x/SKILL.md</path>\nBody\n</skill>"
    session = read(
        tmp_path,
        user("# AGENTS.md instructions for /work", "agents_md.instructions"),
        user("<environment_context>x</environment_context>", ""),
        user("use $build-it"),
        user(skill, "skills.selected_skill_instructions"),
        user("<turn_aborted>\n</turn_aborted>", "generic.turn_aborted"),
        user("<skill>\n<name>typed</name> is what I typed"),
        user("old clients note nothing", ""),
    )
    assert [text for kind, text in words(session) if kind == "human"] == [
        "use $build-it",
        "<skill>\n<name>typed</name> is what I typed",
        "old clients note nothing",
    ]
    assert session.loaded_skills == {"build-it"}


def test_a_typed_skill_is_one_use_however_often_it_is_read(tmp_path: Path) -> None:
    skill = "<skill>\n<name>build-it</name>\n<path>/x</path>\nBody\n</skill>"
    path = rollout(tmp_path, user("$build-it"), user(skill, "skills.selected_skill_instructions"))
    store = UsageStore(tmp_path / "usage.sqlite")
    assert [store.harvest_loads(read_transcript(path)) for _ in range(3)] == [1, 0, 0]
    assert store.counts()["build-it"].count == 1


def test_a_script_stands_for_the_calls_it_makes(tmp_path: Path) -> None:
    def ran(code: str, output_text: str) -> list[Record]:
        told = {"type": "custom_tool_call", "name": "exec", "input": code, "call_id": "s"}
        blocks = [{"type": "input_text", "text": output_text}]
        return [("response_item", told), output("s", blocks)]

    inner = done("exec-1", 4, "no\n", command=["/bin/bash", "-lc", "make all"])
    change = {"/work/site/a.py": {"type": "update", "unified_diff": "@@ -1 +1 @@\n-a\n+b\n"}}
    item = {"type": "FileChange", "id": "exec-2", "changes": change, "status": "completed"}
    changed = event("item_completed", item={**item, "stdout": "Success.", "stderr": ""})
    good = ran("await tools.exec_command({cmd: 'make all'})", "Script completed\n")
    session = read(tmp_path, user("go"), good[0], inner, changed, good[1])
    assert [(s.call.name, s.call.status) for s in session.steps if s.call] == [
        ("Bash", "failed"),
        ("Edit", "ok"),
    ]
    edit = session.steps[-1].call
    assert edit is not None
    assert (edit.input["new_string"], edit.changed_files) == ("b", ("a.py",))
    bad = read(tmp_path, user("go"), *ran("nonsense(", "Script failed\nSyntaxError"))
    assert [(s.call.name, s.call.status) for s in bad.steps if s.call] == [("exec", "failed")]


def test_mcp_calls_have_the_name_that_hooks_see(tmp_path: Path) -> None:
    told = {"type": "McpToolCall", "id": "m", "server": "db", "tool": "query", "status": "failed"}
    item = {**told, "arguments": {"q": 1}, "result": {"content": [{"text": "no table"}]}}
    session = read(tmp_path, user("go"), event("item_completed", item=item))
    (step,) = [step for step in session.steps if step.call]
    assert step.call
    assert (step.call.name, step.call.status) == ("mcp__db__query", "failed")
    assert step.call.result == "no table"


def test_commands_of_the_human_are_theirs(tmp_path: Path) -> None:
    command = {"command": ["bash", "-lc", "git status"], "source": "user_shell"}
    session = read(tmp_path, user("go"), done("u", 0, "clean\n", **command))
    (step,) = [step for step in session.steps if step.kind == "human_shell"]
    assert step.text == "git status"
    assert step.call
    assert (step.call.status, step.call.result) == ("ok", "clean\n")


@pytest.mark.parametrize(
    ("last", "end"),
    [
        (event("task_complete", last_agent_message="done"), "complete"),
        (event("task_complete", error={"message": "overloaded"}), "api_error"),
        (event("turn_aborted", reason="interrupted"), "interrupted"),
        (event("token_count", info={}), "open"),
    ],
)
def test_how_the_last_turn_ended(last: Record, end: str, tmp_path: Path) -> None:
    assert read(tmp_path, user("go"), last).turn_end == end


def test_a_subagents_rollout_holds_no_word_of_a_person(tmp_path: Path) -> None:
    session = read(tmp_path, user("SUBTASK do it"), session_id="parent", thread_source="subagent")
    assert (session.id, session.parent) == (ID, "parent")
    assert words(session) == [("plan", "SUBTASK do it")]


def test_a_fork_names_its_origin(tmp_path: Path) -> None:
    session = read(tmp_path, user("go on"), forked_from_id="origin")
    assert (session.id, session.parent) == (ID, "origin")


def test_torn_and_foreign_lines_are_counted(tmp_path: Path) -> None:
    path = rollout(tmp_path, user("go"), ("response_item", {"type": "message", "role": "user"}))
    with path.open("ab") as handle:
        handle.write(b'{"type":"response_item","payload":[]}\n{"timestamp":"2026-')
    session = read_transcript(path)
    assert words(session) == [("human", "go")]
    assert session.damaged == 1


def test_a_rollout_without_a_word_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TranscriptError, match="no message"):
        read(tmp_path)


# -- with the journal ---------------------------------------------------------------------------


def journal(folder: Path, transcript: Path, *payloads: dict[str, Any]) -> Path:
    path = folder / f"{ID}.jsonl"
    with path.open("w", encoding="utf-8") as handle:
        for n, told in enumerate(payloads):
            common = {"session_id": ID, "cwd": "/work/site", "transcript_path": str(transcript)}
            head = {"v": 1, "t": 1000 + n, "e": told["hook_event_name"], "ed": "codex", "k": "k"}
            record = {**head, "p": "/work/site", "c": 1, "d": {**common, **told}}
            handle.write("\n" + json.dumps(record))
    return path


def ran(call_id: str, command: str, response: str, **more: Any) -> dict[str, Any]:
    told = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_response": response}
    return {"hook_event_name": "PostToolUse", "tool_use_id": call_id, **told, **more}


def statuses(session: Session) -> list[str]:
    return [step.call.status for step in session.steps if step.call]


def test_exit_codes_come_from_the_rollout(tmp_path: Path) -> None:
    records = [user("go"), call("a", "make"), call("b", "make"), done("a", 2, "x\n"), done("b", 0)]
    told = journal(
        tmp_path, rollout(tmp_path, *records), ran("a", "make", "x\n"), ran("b", "m", "")
    )
    assert statuses(load_session(told)) == ["failed", "ok"]


def test_without_a_rollout_words_have_to_do(tmp_path: Path) -> None:
    gone = tmp_path / "gone.jsonl"
    lost = "Traceback (most recent call last):\nKeyError: 'x'\n"
    told = journal(tmp_path, gone, ran("a", "python x.py", lost), ran("b", "ls", "a.py\n"))
    assert statuses(load_session(told)) == ["suspect", "ok"]


def test_an_interrupt_ends_the_turn(tmp_path: Path) -> None:
    prompt = {"hook_event_name": "UserPromptSubmit", "prompt": "go"}
    told = journal(tmp_path, tmp_path / "gone", prompt, {"hook_event_name": "Interrupt"})
    assert load_session(told).turn_end == "interrupted"


def test_a_subagents_rollout_is_not_taken_for_the_sessions(tmp_path: Path) -> None:
    own = rollout(tmp_path, user("go"), call("a", "ls"), done("a", 0, "x\n"))
    child = {"agent_id": "sub", "transcript_path": "/nowhere/child.jsonl"}
    told = journal(tmp_path, own, ran("a", "ls", "x\n"), ran("z", "pwd", "/\n", **child))
    session = load_session(told)
    assert [step.call.input["command"] for step in session.steps if step.call] == ["ls"]


def test_patches_of_the_journal_are_edits_too(tmp_path: Path) -> None:
    text = "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n*** End Patch\n"
    told = {"tool_name": "apply_patch", "tool_input": {"command": text}, "tool_use_id": "p"}
    response = {"hook_event_name": "PostToolUse", "tool_response": "Exit code: 0\nSuccess."}
    (step,) = load_session(journal(tmp_path, tmp_path / "gone", {**told, **response})).steps
    assert step.call
    assert (step.call.name, step.call.status) == ("Edit", "ok")
    assert step.call.changed_files == ("a.py",)


# -- where they lie -----------------------------------------------------------------------------


def test_past_rollouts_of_a_project(tmp_path: Path, hermetic_home: Path) -> None:
    folder = hermetic_home / ".codex" / "sessions" / "2026" / "11" / "30"
    folder.mkdir(parents=True)
    project = tmp_path / "site"
    made = {
        name: rollout(folder, user("go"), cwd=str(cwd), **meta).rename(
            folder / f"rollout-{name}.jsonl"
        )
        for name, cwd, meta in (
            ("here", project, {}),
            ("below", project / "docs", {}),
            ("elsewhere", tmp_path, {}),
            ("child", project, {"thread_source": "subagent"}),
        )
    }
    (folder / "rollout-broken.jsonl").write_text("[]\n")
    assert set(recent_transcripts(project, 9)) == {made["here"], made["below"]}
    assert list(codex_transcripts(project, below=False)) == [made["here"]]
    assert list(codex_transcripts(project, since=2e9)) == []


# -- patches ------------------------------------------------------------------------------------

SEVERAL = """\
*** Begin Patch
*** Add File: new.py
+one
+
+two
*** Update File: sub/old.py
*** Move to: sub/moved.py
@@ def f():
 keep
-gone
+come
@@
-a
*** Delete File: /abs/dead.py
*** End Patch
"""


def test_a_patch_of_several_files_is_several_edits() -> None:
    name, told = patch_call(SEVERAL, "/work")
    assert name == "MultiEdit"
    assert told["file_path"] == "/work/new.py"
    assert told["edits"] == [
        {"file_path": "/work/new.py", "content": "one\n\ntwo\n"},
        {"file_path": "/work/sub/moved.py", "old_string": "keep\ngone", "new_string": "keep\ncome"},
        {"file_path": "/work/sub/moved.py", "old_string": "a", "new_string": ""},
        {"file_path": "/abs/dead.py", "old_string": "", "new_string": ""},
    ]


@pytest.mark.parametrize("text", ["", "*** Begin Patch", "+x", "*** Update File: a", "@@\n-a"])
def test_half_a_patch_is_an_edit_of_little(text: str) -> None:
    name, told = patch_call(text, "/work")
    assert name in ("MultiEdit", "Edit")
    assert isinstance(told["file_path"], str)


def test_files_of_a_patch_are_told_below_the_project(tmp_path: Path) -> None:
    item = {"type": "FileChange", "id": "p", "status": "completed", "stdout": "Success."}
    session = read(tmp_path, user("go"), patch("p", SEVERAL), event("item_completed", item=item))
    steps: list[Step] = [step for step in session.steps if step.call]
    assert steps[0].call
    assert steps[0].call.changed_files == ("new.py", "sub/moved.py", "/abs/dead.py")
