"""What the user wants kept out leaves no trace: neither by hooks, nor by way of a transcript."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hook_sandbox import HookSandbox
from hypothesis import given
from hypothesis import strategies as st

from skill_learner.hook_runtime.payload import as_json_value
from skill_learner.hook_runtime.privacy import (
    blank_private,
    is_ignored,
    lies_in,
    names_any,
    names_path,
)
from skill_learner.models import Session, Step, ToolCall
from skill_learner.privacy import PrivacyRules, without_private

Run = Callable[..., Any]


@pytest.mark.parametrize(
    ("text", "path", "found"),
    [
        (b"cat .env", b".env", True),
        (b"cat ./.env", b".env", True),
        (b'{"file_path":"/p/.env"}', b".env", True),
        (b"process.env.HOME", b".env", False),
        (b"cat .env.example", b".env", False),
        (b"cat .env.local", b".env*", True),
        (b"ls secrets/a", b"secrets/", True),
        (b"ls my-secrets/a", b"secrets/", False),
        (b"ls secretsx; ls secrets", b"secrets", True),
        (b"cat /home/u/.ssh/id", b"/home/u/.ssh", True),
        (b"cat /home/u/.sshd/id", b"/home/u/.ssh", False),
        (b"anything", b"", False),
        (b"anything", b"*", False),
    ],
)
def test_a_path_is_found_as_a_whole_name(text: bytes, path: bytes, found: bool) -> None:
    assert names_path(text, path) is found


def test_a_project_is_ignored_with_what_lies_below_and_nothing_beside() -> None:
    assert lies_in(b"/w/secret", b"/w/secret/")
    assert lies_in(b"/w/secret/deep", b"/w/secret")
    assert not lies_in(b"/w/secrets", b"/w/secret")


@pytest.mark.parametrize(
    ("folder", "top", "inside"),
    [
        (b"C:/Users/ann/Secret", b"C:\\Users\\Ann\\secret", True),
        (b"C:/Users/ann/Secret/deep", b"c:/users/ann/secret/", True),
        (b"C:/Users/ann/secrets", b"C:\\Users\\ann\\secret", False),
        (b"//server/Share/x", b"\\\\server\\share", True),
    ],
)
def test_a_project_of_windows_is_ignored_in_any_spelling(
    folder: bytes, top: bytes, inside: bool
) -> None:
    assert lies_in(folder, top) is inside


@pytest.mark.parametrize("command", ["type C:\\keys\\id", "cat C:/keys/id", r"type \"C:\keys\id\""])
def test_a_path_of_windows_is_found_as_calls_write_it(command: str) -> None:
    """In hooks the call stands in JSON, where a backslash is two."""
    rules = PrivacyRules(paths=("C:\\keys\\",))
    lines = "\n".join(rules.hook_lines()).encode()
    fields = {b"tool_name": b"Bash", b"tool_input": json.dumps({"command": command}).encode()}
    assert is_ignored(lines, (), fields, b"", {})
    assert rules.ignores_call(ToolCall("t", "Bash", {"command": command}, "", "ok"))


def test_capitals_hide_no_path_where_files_are_found_without_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert not names_any([b"cat Secrets/KEY"], [b"secrets/key"])
    monkeypatch.setattr("skill_learner.hook_runtime.privacy.IS_MAC", True)
    assert names_any([b"cat Secrets/KEY"], [b"secrets/key"])


@pytest.mark.parametrize(
    ("prompt", "kept"),
    [
        ("use <private>hunter2</private> here", "use [private] here"),
        ("a <private>x</private> b <private>y</private> c", "a [private] b [private] c"),
        ("open <private>to the end", "open [private]"),
        ('quote <private>"\\ \n</private> and on', "quote [private] and on"),
        ("no span, </private> alone", "no span, </private> alone"),
    ],
)
def test_private_spans_are_blanked_and_the_document_stays_one(prompt: str, kept: str) -> None:
    payload = json.dumps({"prompt": prompt, "cwd": "/p"}, ensure_ascii=False).encode()
    assert json.loads(blank_private(payload)) == {"prompt": kept, "cwd": "/p"}


def escaping(text: str) -> str:
    """As writers of JSON have it that is to be safe within HTML."""
    return text.replace("<", "\\u003c").replace(">", "\\u003E")


@pytest.mark.parametrize(
    ("prompt", "kept"),
    [
        ("use <private>hunter2</private> here", "use [private] here"),
        ("open <private>to the end", "open [private]"),
        ("<b>x</b> \\u003cprivate\\u003e is a text", "<b>x</b> \\u003cprivate\\u003e is a text"),
    ],
)
def test_tags_whose_brackets_are_escaped_are_tags(prompt: str, kept: str) -> None:
    payload = escaping(json.dumps({"prompt": prompt, "cwd": "/p"})).encode()
    told = as_json_value(payload, {}, 1 << 20)
    assert json.loads(told) == {"prompt": kept, "cwd": "/p"}


@pytest.mark.parametrize(
    ("path", "call"),
    [
        ("schlüssel", '{"command":"cat schl\\u00fcssel"}'),
        ("/a/b", '{"file_path":"\\/a\\/b"}'),
        ("my file", '{"command":"cat my\\\\ file"}'),
        ("~/secret", '{"command":"cat $HOME/secret/x"}'),
        ("~/secret", '{"command":"cat \\"${HOME}/secret\\""}'),
        ("/home/ann/secret", '{"command":"cat ~/secret"}'),
    ],
)
def test_a_path_is_found_however_a_call_writes_it(
    monkeypatch: pytest.MonkeyPatch, path: str, call: str
) -> None:
    monkeypatch.setenv("HOME", "/home/ann")
    rules = PrivacyRules(paths=(path,))
    lines = "\n".join(rules.hook_lines()).encode()
    fields = {b"tool_name": b"Bash", b"tool_input": call.encode()}
    assert is_ignored(lines, (), fields, b"", {})
    assert rules.ignores_call(ToolCall("t", "Bash", json.loads(call), "", "ok"))
    assert not is_ignored(lines, (), fields | {b"tool_input": b'{"command":"ls \\\\ x"}'}, b"", {})


@given(st.text(), st.text(), st.text())
def test_no_text_between_the_tags_survives(before: str, secret: str, after: str) -> None:
    marked = f"SECRET{secret.replace('</private>', '')}SECRET"
    prompt = f"{before}<private>{marked}</private>{after}"
    payload = json.dumps({"prompt": prompt, "n": 1}).encode()
    told = json.loads(blank_private(payload))
    assert told["n"] == 1
    assert marked not in told["prompt"]


def session_of(*steps: Step) -> Session:
    return Session("s", "claude-code", "/w/p", steps)


def call(name: str, result: str, **given: Any) -> Step:
    return Step(1, "tool", "", ToolCall("c", name, given, result, "ok"))


def test_a_review_sees_nothing_of_ignored_calls_that_the_transcript_holds() -> None:
    rules = PrivacyRules(paths=(".env", "~/.ssh"), tools=("mcp__vault__*",))
    steps = (
        call("Bash", "TOKEN=abc", command="cat .env"),
        call("mcp__vault__read", "abc"),
        call("Read", "abc", file_path=str(Path.home() / ".ssh" / "id")),
        call("Bash", "fine", command="cat README"),
    )
    cleared = without_private(session_of(*steps), rules).steps
    assert [step.call.result for step in cleared if step.call] == [None, None, None, "fine"]
    assert [dict(step.call.input) for step in cleared[:3] if step.call] == [{}, {}, {}]


def test_a_review_sees_no_private_span_anywhere() -> None:
    steps = (
        Step(1, "human", "say <private>abc</private> now"),
        call("Bash", "out <private>abc</private>", command="echo '<private>abc</private>'"),
        call("Edit", "ok", edits=[{"new": "<private>abc"}]),
    )
    cleared = without_private(session_of(*steps), PrivacyRules())
    assert "abc" not in repr(cleared)
    assert cleared.steps[0].text == "say [private] now"
    assert len(cleared.steps) == 3


@pytest.mark.process
def test_hooks_record_nothing_of_what_is_ignored(
    hooks: HookSandbox, settings: Callable[[str], None], run: Run, tmp_path: Path
) -> None:
    settings(
        f"ignore_projects: ['{tmp_path / 'elsewhere'}']\n"
        "ignore_paths: ['.env', 'secrets/']\nignore_tools: ['mcp__vault__*']\n"
    )
    run("status")

    def tool(name: str, **given: Any) -> None:
        hooks.run("PostToolUse", hooks.payload("PostToolUse", tool_name=name, tool_input=given))

    tool("Bash", command="cat .env")
    tool("mcp__vault__read", key="k")
    tool("Write", file_path="/p/secrets/a", content='{"a": [1, 2, {"b": "\\""}]}' * 5_000)
    assert not (hooks.state / "journal").exists()
    assert hooks.tally() == 0
    tool("Bash", command="echo process.env")
    hooks.run(
        "UserPromptSubmit", hooks.payload("UserPromptSubmit", prompt='x <private>é"</private> y')
    )
    assert [record["e"] for record in hooks.records()] == ["PostToolUse", "UserPromptSubmit"]
    assert hooks.records()[1]["d"]["prompt"] == "x [private] y"
    elsewhere = hooks.environ(CLAUDE_PROJECT_DIR=str(tmp_path / "elsewhere" / "sub"))
    (tmp_path / "elsewhere" / "sub").mkdir(parents=True)
    hooks.run("UserPromptSubmit", environ=elsewhere)
    assert len(hooks.records()) == 2


def test_learning_from_an_ignored_project_says_so(tmp_path: Path) -> None:
    from skill_learner.config import SkillLearnerConfig
    from skill_learner.pipeline import learn_from
    from skill_learner.wiring import build_services

    config = SkillLearnerConfig.from_dict(
        {"state_dir": tmp_path / "state", "ignore_projects": [str(tmp_path / "p")]}
    )
    session = Session("s", "claude-code", str(tmp_path / "p"), (Step(1, "human", "hello"),))
    outcome = learn_from(build_services(config, None), session)
    assert "ignore_projects" in outcome.detail
    assert outcome.review is None


def test_nothing_is_learned_once_a_project_is_switched_off(
    hooks: HookSandbox, run: Run, run_json: Run
) -> None:
    hooks.run("UserPromptSubmit", hooks.payload("UserPromptSubmit", prompt="remember: use pnpm"))
    (hooks.project / ".skill-learner-off").touch()
    hooks.run("SessionEnd")
    session = next((hooks.state / "journal").glob("*.jsonl")).stem
    run("review", "--session", session)
    (job,) = run_json("status")["jobs"]
    assert ".skill-learner-off" in job["detail"]
    assert hooks.requests() == []


@pytest.mark.parametrize("how", ["pause", "off"])
def test_a_detached_review_waits_while_everything_is_off(
    hooks: HookSandbox, run: Run, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    hooks.run("UserPromptSubmit")
    hooks.run("SessionEnd")
    if how == "pause":
        run("pause", "1h")
    else:
        monkeypatch.setenv("SKILL_LEARNER_OFF", "1")
    run("review", "--detached")
    assert len(hooks.requests()) == 1
    run("resume")
    monkeypatch.delenv("SKILL_LEARNER_OFF", raising=False)
    monkeypatch.setenv("SKILL_LEARNER_REVIEW", "")
    run("review", "--detached")
    assert hooks.requests() == []


@pytest.mark.parametrize("value", [["a\nignore_tool=*"], [1], {"a": 1}, ["x", None]])
def test_a_list_of_names_must_be_one(value: Any) -> None:
    from skill_learner.config import SkillLearnerConfig
    from skill_learner.errors import ConfigError

    with pytest.raises(ConfigError, match="ignore_tools must be a list of texts"):
        SkillLearnerConfig.from_dict({"ignore_tools": value})


def test_names_in_the_environment_are_split_at_commas() -> None:
    from skill_learner.config import SkillLearnerConfig

    config = SkillLearnerConfig.from_env(environ={"SKILL_LEARNER_IGNORE_PATHS": ".env, secrets/"})
    assert config.ignore_paths == (".env", "secrets/")
