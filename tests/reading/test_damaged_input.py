"""Whatever bytes a transcript or journal holds, reading it fails in no other way than it says."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skill_learner.errors import TranscriptError
from skill_learner.journal import read_journal
from skill_learner.session_loader import load_session
from skill_learner.targets import get_target
from skill_learner.transcripts import read_transcript
from skill_learner.transcripts.lines import decode_objects
from skill_learner.transcripts.prompts import classify_prompt

slow_ok = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=8,
)


def mutate(data: bytes, cuts: list[tuple[int, int, bytes]]) -> bytes:
    for at, length, insert in cuts:
        place = at % (len(data) + 1)
        data = data[:place] + insert + data[place + length :]
    return data


cuts = st.lists(
    st.tuples(st.integers(0, 10**6), st.integers(0, 9), st.binary(max_size=4)), max_size=6
)


def full_talk(talk):
    talk.human("go").says("look", message="m1").calls("t1", "Bash", command="make | tail")
    talk.result("t1", "Exit code 1\nboom", error=True, toolUseResult="Error: x")
    talk.human("<task-notification><status>failed</status></task-notification>")
    talk.line("queue-operation", operation="enqueue", content="more")
    talk.line("attachment", attachment={"type": "queued_command", "prompt": "x"})
    return talk.says("done", message="m2").line("system", subtype="turn_duration")


@slow_ok
@given(cuts=cuts)
def test_mutated_transcripts(talk, cuts):
    talk.lines.clear()
    talk.path.write_bytes(mutate(full_talk(talk).bytes(), cuts))
    with contextlib.suppress(TranscriptError):
        session = read_transcript(talk.path)
        assert all(step.text.encode("utf-8") is not None for step in session.steps)


FIELDS = [
    "message",
    "uuid",
    "sessionId",
    "timestamp",
    "cwd",
    "origin",
    "toolUseResult",
    "forkedFrom",
]
FIELDS += ["attachment", "operation", "content", "subtype", "isSidechain", "isMeta", "agentId"]


@slow_ok
@given(
    kind=st.sampled_from(["user", "assistant", "attachment", "queue-operation", "system"]),
    fields=st.dictionaries(st.sampled_from(FIELDS), json_values, max_size=5),
    content=json_values,
    extra=json_values,
)
def test_fields_of_any_type(talk, kind, fields, content, extra):
    talk.lines.clear()
    talk.human("go").calls("t1", "Edit", file_path=content).result("t1", content)
    talk.line(kind, **{"message": {"id": extra, "content": content}, **fields})
    talk.line("user", message={"content": [content, {"type": content, "text": extra}]})
    talk.line("user", message={"content": [{"type": "tool_result", "tool_use_id": extra}]})
    talk.line(
        "assistant", message={"content": [{"type": "tool_use", "id": content, "name": extra}]}
    )
    session = talk.read()
    assert session.steps[0].text == "go"


@slow_ok
@given(cuts=cuts)
def test_mutated_journals(journal, cuts):
    journal.path.unlink(missing_ok=True)
    journal.event("SessionStart", source="startup").prompt("go")
    journal.bash("t1", "ls", "a").bash_fails("t2", "make", "Exit code 2").stop("done")
    journal.data("PostToolUse", b'{"cut":9,"head":"{\\"tool_input\\":{","tail":"}"}')
    journal.path.write_bytes(mutate(journal.path.read_bytes(), cuts))
    reading = read_journal(journal.path)
    assert reading.end <= journal.end
    with contextlib.suppress(TranscriptError):
        load_session(journal.path)


PROMPTS = {
    "a path with backslashes": "look at C:\\dir\\work and \\\\server\\users\\u12 \\n \\",
    "backslashes before a u": "C:\\u \\\\u00 \\\\\\u0 done",
    "letters beside ASCII": 'sch\u00f6n \u65e5\u672c \U0001f600 "quoted"\n\ttab',
}


@pytest.mark.parametrize("ascii_only", [True, False])
@pytest.mark.parametrize("prompt", PROMPTS.values(), ids=PROMPTS.keys())
@pytest.mark.parametrize("kind", ["damaged", "cut"])
def test_a_prompt_cut_anywhere_is_kept_as_far_as_it_came(journal, kind, prompt, ascii_only):
    head = {"session_id": journal.session, "hook_event_name": "UserPromptSubmit"}
    whole = json.dumps({**head, "prompt": prompt}, ensure_ascii=ascii_only)
    for end in range(1, len(whole)):
        told = {"cut": 9, "head": whole[:end], "tail": ""}
        journal.data(
            "UserPromptSubmit",
            json.dumps(told if kind == "cut" else {"damaged": whole[:end]}).encode(),
        )
    kept = [record.text("prompt") for record in read_journal(journal.path).records]
    assert len(kept) == len(whole) - 1
    assert all(prompt.startswith(text) for text in kept)
    assert kept == sorted(kept, key=len)
    assert kept[-1] == prompt


@pytest.mark.parametrize("text", [r"look at C:\dir\work", r"C:\users\u", r"\x41 and \u12"])
def test_a_cut_prompt_that_is_no_json_is_kept_as_it_stands(journal, text):
    journal.data("UserPromptSubmit", json.dumps({"damaged": f'{{"prompt":"{text}'}).encode())
    (record,) = read_journal(journal.path).records
    assert text.startswith(record.text("prompt"))
    assert len(text) - len(record.text("prompt")) <= 5


@slow_ok
@given(text=st.text('ab:/\\u0d8"n', max_size=30))
def test_a_cut_prompt_of_any_escapes(journal, text):
    journal.path.unlink(missing_ok=True)
    journal.prompt("go").data(
        "UserPromptSubmit", json.dumps({"damaged": f'{{"prompt":"{text}'}).encode()
    )
    records = read_journal(journal.path).records
    assert records[0].text("prompt") == "go"
    assert len(records) == 2
    assert load_session(journal.path).steps[0].text == "go"


def test_a_record_that_cannot_be_read_costs_no_other(journal, monkeypatch):
    def event_key(event, payload):
        raise KeyError("a field that nobody foresaw to be missing")

    journal.prompt("one")
    before = read_journal(journal.path).end
    monkeypatch.setattr(get_target("cursor"), "event_key", event_key)
    odd = b'\n{"v":1,"t":1,"e":"Stop","ed":"cursor","k":"k","p":"/p","c":1,"d":{"session_id":"s"}}'
    journal.append(odd).prompt("two")
    reading = read_journal(journal.path)
    assert [record.text("prompt") for record in reading.records] == ["one", "two"]
    assert (reading.damaged, reading.end > before) == (1, True)


@slow_ok
@given(event=st.sampled_from(["PostToolUse", "Stop", "UserPromptSubmit"]), payload=json_values)
def test_payloads_of_any_type(journal, event, payload):
    journal.path.unlink(missing_ok=True)
    journal.prompt("go").data(event, json.dumps(payload).encode())
    journal.event(event, tool_name=payload, tool_input=payload, tool_response=payload)
    journal.event(event, prompt=payload, last_assistant_message=payload, error=payload)
    assert load_session(journal.path).steps[0].text == "go"


@given(st.text())
def test_any_text_is_some_prompt(text):
    prompt = classify_prompt(text)
    assert prompt.kind != "human" or prompt.text.strip()


@given(st.lists(st.dictionaries(st.text(max_size=3), json_values, max_size=2), max_size=4))
def test_glued_objects_come_apart(objects):
    glued = "".join(json.dumps(item) for item in objects).encode()
    found, whole = decode_objects(glued)
    assert whole
    assert json.dumps(found) == json.dumps(objects)


def test_deep_nesting_and_huge_numbers_are_damage():
    for text in ("[" * 200_000, '{"a":' * 200_000, '{"a":' + "9" * 10_000 + "}"):
        objects, whole = decode_objects(text.encode())
        assert len(objects) <= 1
        assert whole == bool(objects)


def test_a_payload_that_is_no_json_inside_its_braces_keeps_its_event(tmp_path: Path) -> None:
    """Hooks keep what begins and ends as an object as it is, be it JSON or not."""
    envelope = (
        '\n{"v":1,"t":9,"e":"UserPromptSubmit","ed":"claude-code","k":"k","p":"/p","c":0,"d":'
    )
    journal = tmp_path / "s.jsonl"
    torn = f'{envelope}{{"session_id":"s","prompt":"half'
    journal.write_text(f'{envelope}{{"session_id":"s","prompt":"hello","x":[1,,2]}}}}{torn}')
    reading = read_journal(journal)
    (record,) = reading.records
    assert (record.event, record.at, record.project_key) == ("UserPromptSubmit", 9, "k")
    assert (record.text("session_id"), record.text("prompt")) == ("s", "hello")
    assert record.damaged
    assert reading.damaged == 2  # this one, and the torn line
    assert reading.end == record.end
