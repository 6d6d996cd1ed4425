"""Cursor's transcripts, SpecStory's exports, and a transcript joined to the journal by order."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skill_learner.errors import TranscriptError
from skill_learner.learning.episodes import find_episodes
from skill_learner.models import Session
from skill_learner.session_loader import load_session
from skill_learner.transcripts import read_transcript

ID = "7d0f5a5e-2c1b-4b7e-9a44-0f3b5d1c9e21"


def line(role: str, *blocks: Any) -> str:
    return json.dumps({"role": role, "message": {"content": list(blocks)}})


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


def use(name: str, **tool_input: Any) -> dict[str, Any]:
    return {"type": "tool_use", "name": name, "input": tool_input}


def write(folder: Path, *lines: str, name: str = f"{ID}.jsonl") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def outline(session: Session) -> list[tuple[str, str]]:
    return [
        (step.kind, step.call.name if step.call else " ".join(step.text.split()))
        for step in session.steps
    ]


# -- JSON lines ---------------------------------------------------------------------------------


def test_the_documented_sample(payloads: Path) -> None:
    session = read_transcript(payloads / "transcript_example.jsonl")
    assert session.editor == "cursor"
    assert outline(session) == [
        ("human", "Fix the failing test"),
        ("assistant", "I'll run it first."),
        ("tool", "Bash"),
        ("tool", "Edit"),
        ("assistant", "Fixed."),
        ("human", "plain string content also occurs"),
    ]
    assert {step.call.status for step in session.steps if step.call} == {"pending"}
    assert session.turn_end == "interrupted"
    assert session.damaged == 0


@pytest.mark.parametrize(
    ("status", "turn_end"),
    [
        ("success", "complete"),
        ("error", "api_error"),
        ("aborted", "interrupted"),
        (None, "complete"),
    ],
)
def test_how_the_last_turn_ended(tmp_path: Path, status: str | None, turn_end: str) -> None:
    end = json.dumps({"type": "turn_ended", "status": status})
    path = write(tmp_path, line("user", text("Hi")), line("assistant", text("Hello")), end)
    assert read_transcript(path).turn_end == turn_end


def test_what_the_editor_wrapped_around_is_no_word_of_a_person(tmp_path: Path) -> None:
    wrapped = (
        "<timestamp>Sunday</timestamp>\n<external_links>\nhttp://x\n</external_links>\n"
        "<user_query>\nuse tabs\n</user_query>"
    )
    injected = "<attached_files>\nnever use tabs\n</attached_files>"
    path = write(
        tmp_path,
        line("user", text(wrapped)),
        line("user", text(injected)),
        line("assistant", text("**Planning the change**\n\n[REDACTED]")),
    )
    assert outline(read_transcript(path)) == [("human", "use tabs")]


def test_a_subagents_task_is_nobodys_words(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        line("user", text("<user_query>Look around</user_query>")),
        line("assistant", use("Read", path="/p/a.py")),
        name=f"{ID}/subagents/sub-1.jsonl",
    )
    session = read_transcript(path)
    assert (session.id, session.parent) == ("sub-1", ID)
    assert outline(session) == [("plan", "Look around"), ("tool", "Read")]
    assert session.steps[1].call is not None
    assert session.steps[1].call.input["file_path"] == "/p/a.py"


def test_damaged_lines_are_counted(tmp_path: Path) -> None:
    path = write(tmp_path, line("user", text("Hi")), '{"role": "assist', '{"role": "user"}', "[1]")
    session = read_transcript(path)
    assert outline(session) == [("human", "Hi")]
    assert session.damaged == 2


@pytest.mark.parametrize("content", ['{"role": "user", "message": {"content": []}}', ""])
def test_a_file_without_words_is_refused(tmp_path: Path, content: str) -> None:
    with pytest.raises(TranscriptError):
        read_transcript(write(tmp_path, content))


# -- plain text ---------------------------------------------------------------------------------

PLAIN = """\
user:
<user_query>
Fix the build
assistant:
is not a speaker here
</user_query>

assistant:
[Thinking] What may it be?
Perhaps the flag.
[Tool call] Shell
  command: make
    all
  options: {"quiet": true}
[Tool result] Shell
make: *** [all] Error 2
assistant:
It needs a flag.
[Tool call] Write
  path: Makefile
  contents: all:
[Tool result] Write

A:
Done.
"""


def test_the_older_text(tmp_path: Path) -> None:
    session = read_transcript(write(tmp_path, PLAIN, name=f"{ID}.txt"))
    assert outline(session) == [
        ("human", "Fix the build assistant: is not a speaker here"),
        ("tool", "Bash"),
        ("assistant", "It needs a flag."),
        ("tool", "Write"),
        ("assistant", "Done."),
    ]
    first, second = (step.call for step in session.steps if step.call)
    assert first.input == {"command": "make\n    all", "options": {"quiet": True}}
    assert (first.result, first.status) == ("make: *** [all] Error 2", "suspect")
    assert (second.result, second.status) == (None, "pending")


# -- SpecStory ----------------------------------------------------------------------------------

EXPORT = """\
<!-- Generated by SpecStory, Markdown v2.1.0 -->

<!-- Cursor IDE Session 01234567-89ab (2026-08-02 10:00:00Z) -->

_**User (2026-08-02 10:00Z)**_

Make the tests pass
_**Agent**_ is what I call it

---

_**Agent (model gpt-5, mode Agent)**_

<think><details><summary>Thought Process</summary>
I wonder.
</details></think>

I run them.

<tool-use data-tool-type="shell" data-tool-name="run_terminal_cmd"><details>
<summary>Tool use: **run_terminal_cmd** • Run command: npm test</summary>

```bash
npm test
```

```
npm ERR! missing script: test
```

</details></tool-use>

<tool-use data-tool-type="read" data-tool-name="read_file"><details>
<summary>Tool use: **read_file** • Read file: `package.json`</summary>
</details></tool-use>

It has no script.

---

_**User**_

Thanks
"""


def test_an_export(tmp_path: Path) -> None:
    session = read_transcript(write(tmp_path, EXPORT, name="2026-08-02_10-00Z-tests.md"))
    assert (session.id, session.editor) == ("01234567-89ab", "cursor")
    assert outline(session) == [
        ("human", "Make the tests pass _**Agent**_ is what I call it"),
        ("assistant", "I run them."),
        ("tool", "Bash"),
        ("tool", "Read"),
        ("assistant", "It has no script."),
        ("human", "Thanks"),
    ]
    first, second = (step.call for step in session.steps if step.call)
    assert first.input == {"command": "npm test"}
    assert (first.result, first.status) == ("npm ERR! missing script: test", "suspect")
    assert second.input == {"file_path": "package.json"}


@pytest.mark.parametrize(
    ("kind", "editor"),
    [("Claude Code", "claude-code"), ("Codex CLI", "codex"), ("Other", "specstory")],
)
def test_whose_session_was_exported(tmp_path: Path, kind: str, editor: str) -> None:
    turns = "_**User**_\n\nHi\n\n---\n\n_**Assistant**_\n\nHo\n"
    content = f"<!-- {kind} Session abcdef-1 (now) -->\n\n{turns}"
    session = read_transcript(write(tmp_path, content, name="x.md"))
    assert session.editor == editor
    assert outline(session) == [("human", "Hi"), ("assistant", "Ho")]


def test_the_older_form_of_tool_use(tmp_path: Path) -> None:
    content = (
        "<!-- Generated by SpecStory -->\n\n_**Assistant**_\n\nI look.\n\n"
        'Tool use: **grep**\n\n```json\n{"pattern": "x"}\n```\n\n```\na.py:1:x\n```\n'
    )
    session = read_transcript(write(tmp_path, content, name="x.md"))
    assert outline(session) == [("assistant", "I look."), ("tool", "grep")]
    call = session.steps[1].call
    assert call is not None
    assert (call.input, call.result) == ({"pattern": "x"}, "a.py:1:x")


def test_markdown_of_somebody_else_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TranscriptError, match="known format"):
        read_transcript(write(tmp_path, "# Notes\n\n_**User**_ did it\n", name="x.md"))


# -- joined to the journal ----------------------------------------------------------------------


def record(event: str, **fields: Any) -> str:
    payload = {"session_id": ID, "workspace_roots": ["/p"], **fields}
    envelope = {"v": 1, "t": 1, "e": event, "ed": "cursor", "k": "k", "p": "/p", "c": 0}
    return json.dumps({**envelope, "d": payload})


def ran(call: str, command: str, output: str, code: int, **more: Any) -> str:
    return record(
        "PostToolUse",
        tool_name="Shell",
        tool_input={"command": command, "cwd": ""},
        tool_output=json.dumps({"output": output, "exitCode": code}),
        tool_use_id=call,
        **more,
    )


@pytest.fixture
def told(tmp_path: Path) -> tuple[Path, Path]:
    """(journal, transcript) of one session; the hooks came when it had begun."""
    transcript = write(
        tmp_path / "agent-transcripts",
        line("user", text("<user_query>Before the hooks</user_query>")),
        line("assistant", use("Shell", command="ls")),
        line("user", text("<user_query>\nFix the failing test\n</user_query>")),
        line("assistant", text("I run it."), use("Shell", command="pytest -q", description="run")),
        line("assistant", text("A typo."), use("StrReplace", path="/p/app.py", old_string="a")),
        line("assistant", use("Shell", command="pytest -q")),
        line("assistant", text("Fixed.")),
        json.dumps({"type": "turn_ended", "status": "success"}),
    )
    error = "E   NameError: name 'helo' is not defined\n1 failed\n"
    edit = {"tool_input": {"path": "/p/app.py", "old_string": "a"}, "tool_use_id": "t2"}
    lines = [
        record("UserPromptSubmit", prompt="Fix the failing test", generation_id="g"),
        ran("t1", "pytest -q", error, 1, transcript_path=str(transcript)),
        record("PostToolUse", tool_name="StrReplace", tool_output="{}", **edit),
        record("PostToolUse", tool_name="Grep", tool_input={"pattern": "x"}, tool_use_id="t9"),
        ran("t3", "pytest -q", "4 passed\n", 0, transcript_path=str(transcript)),
        record("Stop", status="completed", transcript_path=str(transcript)),
    ]
    journal = tmp_path / f"{ID}.jsonl"
    journal.write_text("".join(f"\n{entry}" for entry in lines))
    return journal, transcript


def test_results_come_from_the_journal_and_prose_from_the_transcript(
    told: tuple[Path, Path],
) -> None:
    session = load_session(told[0])
    assert outline(session) == [
        ("human", "Before the hooks"),
        ("tool", "Bash"),
        ("human", "Fix the failing test"),
        ("assistant", "I run it."),
        ("tool", "Bash"),
        ("assistant", "A typo."),
        ("tool", "Edit"),
        ("tool", "Grep"),
        ("tool", "Bash"),
        ("assistant", "Fixed."),
    ]
    assert [step.number for step in session.steps] == list(range(1, 11))
    assert [step.call.status for step in session.steps if step.call] == [
        "pending",
        "failed",
        "ok",
        "ok",
        "ok",
    ]
    assert (session.id, session.editor, session.turn_end) == (ID, "cursor", "complete")


def test_a_fixed_failure_is_found_in_it(told: tuple[Path, Path]) -> None:
    (episode,) = [e for e in find_episodes(load_session(told[0])) if e.kind == "fixed_failure"]
    assert episode.command == "pytest -q"
    assert "NameError" in episode.error
    assert episode.changed_files == ("app.py",)


def test_what_was_reviewed_is_old(told: tuple[Path, Path]) -> None:
    journal, _ = told
    data = journal.read_bytes()
    reviewed = data.index(b'"t9"') - 200
    first_new = load_session(journal, reviewed_to=data.rindex(b"\n", 0, reviewed)).first_new_step
    assert outline(load_session(journal))[first_new - 2][1] == "Edit"
    assert load_session(journal, reviewed_to=len(data)).first_new_step == 10


def test_each_alone_is_enough(told: tuple[Path, Path]) -> None:
    journal, transcript = told
    assert len(load_session(None, transcript).steps) == 9
    transcript.unlink()
    assert [kind for kind, _ in outline(load_session(journal))] == ["human", *["tool"] * 4]
