from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skill_learner.errors import (
    ProviderAnswerError,
    ProviderError,
    ProviderTimeoutError,
    ProviderUnavailableError,
)
from skill_learner.providers.base import ChatRequest, GuardedProvider
from skill_learner.providers.claude_cli import ClaudeCli, find_client, is_logged_in

pytestmark = pytest.mark.process

FakeClient = Callable[[str], Path]
TOOL = {"name": "submit_review", "description": "d", "input_schema": {"type": "object"}}
MESSAGES = [
    {"role": "system", "content": "You review."},
    {"role": "user", "content": "The digest. ünïcode"},
]


def printing(result: dict[str, Any], code: int = 0) -> str:
    return f"print({json.dumps(json.dumps(result))}); sys.exit({code})"


def result(**more: Any) -> dict[str, Any]:
    return {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "result": "text",
        "total_cost_usd": 0.0123,
        "usage": {
            "input_tokens": 10,
            "cache_creation_input_tokens": 200,
            "cache_read_input_tokens": 3_000,
            "output_tokens": 40,
        },
        "modelUsage": {"small": {"outputTokens": 1}, "large": {"outputTokens": 40}},
        **more,
    }


def provider(folder: Path, timeout: float = 20.0, **env: str) -> GuardedProvider:
    environment = {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}", **env}
    backend = ClaudeCli(model="", env=environment, cwd=Path("/"))
    return GuardedProvider(backend, timeout=timeout, attempts=1)


def call_of(folder: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((folder / "call.json").read_text())
    return loaded


def test_a_structured_answer_comes_as_a_tool_call(fake_client: FakeClient) -> None:
    folder = fake_client(printing(result(structured_output={"outcome": "done"})))

    answer = provider(folder).complete(MESSAGES, [TOOL])

    assert [(call.name, call.arguments) for call in answer.tool_calls] == [
        ("submit_review", {"outcome": "done"})
    ]
    assert answer.usage is not None
    assert (answer.usage.tokens_in, answer.usage.tokens_out) == (3_210, 40)
    assert (answer.usage.model, answer.usage.cost_usd) == ("large", 0.0123)


def test_the_client_runs_without_tools_hooks_transcript_or_project(fake_client: FakeClient) -> None:
    folder = fake_client(printing(result(structured_output={})))
    session = {
        "CLAUDECODE": "1",
        "CLAUDE_CODE_SESSION_ID": "x",
        "CLAUDE_PROJECT_DIR": "/p",
        "CLAUDE_CODE_CHILD_SESSION": "1",
        "CLAUDE_PID": "1",
        "CLAUDE_ENV_FILE": "/x",
        "CLAUDE_CODE_MESSAGING_SOCKET": "/x",
    }
    kept = {
        "ANTHROPIC_API_KEY": "sk-test",
        "ANTHROPIC_BASE_URL": "http://127.0.0.1:1",
        "CLAUDE_CONFIG_DIR": "/c",
    }

    provider(folder, **session, **kept).complete(MESSAGES, [TOOL])

    call = call_of(folder)
    argv = call["argv"]
    assert argv[:3] == ["-p", "--output-format", "json"]
    assert argv[argv.index("--json-schema") + 1] == '{"type":"object"}'
    assert argv[argv.index("--tools") + 1] == ""
    assert argv[argv.index("--setting-sources") + 1] == "user"
    assert json.loads(argv[argv.index("--settings") + 1]) == {"disableAllHooks": True}
    assert argv[argv.index("--system-prompt") + 1] == "You review."
    flags = {"--no-session-persistence", "--strict-mcp-config", "--disable-slash-commands"}
    assert flags <= set(argv)
    assert call["stdin"] == "The digest. ünïcode"
    assert call["cwd"] == "/"
    assert call["env"]["SKILL_LEARNER_REVIEW"] == "1"
    assert not session.keys() & call["env"].keys()
    assert kept.items() <= call["env"].items()


def test_a_conversation_becomes_one_prompt(fake_client: FakeClient) -> None:
    folder = fake_client(printing(result(structured_output={})))
    more = [
        {"role": "assistant", "content": "my answer"},
        {"role": "user", "content": "that is faulty"},
    ]
    provider(folder).complete([*MESSAGES, *more], [TOOL])
    stdin = call_of(folder)["stdin"]
    assert stdin.index("The digest") < stdin.index("my answer") < stdin.index("that is faulty")
    assert "YOUR EARLIER ANSWER" in stdin


def test_success_without_structured_output_gives_the_text(fake_client: FakeClient) -> None:
    folder = fake_client(printing(result(result='{"skills": []}')))
    answer = provider(folder).complete(MESSAGES, [TOOL])
    assert answer.tool_calls == ()
    assert answer.content == '{"skills": []}'


def test_success_without_any_answer_is_a_fault(fake_client: FakeClient) -> None:
    folder = fake_client(printing(result(result="")))
    with pytest.raises(ProviderAnswerError):
        provider(folder).complete(MESSAGES, [TOOL])


def test_is_error_counts_although_the_subtype_says_success(fake_client: FakeClient) -> None:
    folder = fake_client(printing(result(is_error=True, result="API Error: 529 overloaded")))
    with pytest.raises(ProviderError, match="529 overloaded"):
        provider(folder).complete(MESSAGES, [TOOL])


def test_no_login_is_said_with_the_way_out(fake_client: FakeClient) -> None:
    told = result(is_error=True, result="Not logged in · Please run /login")
    folder = fake_client(printing(told, code=1))
    with pytest.raises(ProviderUnavailableError, match="not logged in") as error:
        provider(folder).complete(MESSAGES, [TOOL])
    assert "/login" in error.value.hint


def test_an_exit_code_without_is_error_is_an_error(fake_client: FakeClient) -> None:
    told = {"type": "result", "subtype": "error_max_turns", "is_error": False}
    folder = fake_client(printing(told, code=1))
    with pytest.raises(ProviderError, match="error_max_turns"):
        provider(folder).complete(MESSAGES, [TOOL])


@pytest.mark.parametrize(
    "behaviour",
    [
        "print('no json at all')",
        "print('{\"type\": ')",
        "print('[1, 2]')",
        "sys.stderr.write('segfault ahead'); sys.exit(139)",
        "sys.stdout.buffer.write(b'\\xff\\xfe')",
        "pass",
    ],
)
def test_garbage_is_an_error_that_tells_what_was_said(
    fake_client: FakeClient, behaviour: str
) -> None:
    folder = fake_client(behaviour)
    with pytest.raises(ProviderError, match="it said: "):
        provider(folder).complete(MESSAGES, [TOOL])


def test_a_list_of_events_ends_in_the_result(fake_client: FakeClient) -> None:
    events = [{"type": "system"}, result(structured_output={"n": 1})]
    folder = fake_client(printing(events))  # type: ignore[arg-type]
    answer = provider(folder).complete(MESSAGES, [TOOL])
    assert answer.tool_calls[0].arguments == {"n": 1}


def test_a_timeout_ends_the_client_and_its_children(
    fake_client: FakeClient, tmp_path: Path
) -> None:
    child_pid = tmp_path / "child.pid"
    folder = fake_client(
        "import subprocess\n"
        "child = subprocess.Popen(['sleep', '300'])\n"
        f"open({str(child_pid)!r}, 'w').write(str(child.pid))\n"
        "time.sleep(300)"
    )

    with pytest.raises(ProviderTimeoutError):
        provider(folder, timeout=2.0).complete(MESSAGES, [TOOL])

    pid = int(child_pid.read_text())
    assert _is_gone(pid)


def _is_gone(pid: int) -> bool:
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.02)
    return False


def test_a_missing_client_is_unavailable(tmp_path: Path) -> None:
    backend = ClaudeCli(model="", env={"PATH": str(tmp_path), "HOME": str(tmp_path)}, cwd=tmp_path)
    with pytest.raises(ProviderUnavailableError, match="not on PATH"):
        backend.send(ChatRequest(tuple(MESSAGES)), 5.0)


def test_a_client_that_cannot_start_is_unavailable(tmp_path: Path) -> None:
    program = tmp_path / "claude"
    program.write_text("#!/nonexistent/interpreter\n")
    program.chmod(0o755)
    backend = ClaudeCli(model="", env={"PATH": str(tmp_path)}, cwd=tmp_path)
    with pytest.raises(ProviderUnavailableError, match="cannot be started"):
        backend.send(ChatRequest(tuple(MESSAGES)), 5.0)


def test_the_client_is_found_off_path(tmp_path: Path) -> None:
    local = tmp_path / ".local" / "bin" / "claude"
    local.parent.mkdir(parents=True)
    local.write_text("#!/bin/sh\n")
    local.chmod(0o755)
    named = tmp_path / "elsewhere" / "claude-2"
    named.parent.mkdir()
    named.write_text("#!/bin/sh\n")
    named.chmod(0o755)
    env = {"PATH": "/nonexistent", "HOME": str(tmp_path)}

    assert find_client(env) == local
    assert find_client({**env, "CLAUDE_CODE_EXECPATH": str(named)}) == named
    assert find_client({**env, "CLAUDE_CODE_EXECPATH": "/usr/bin/node"}) == local


@pytest.mark.parametrize(
    ("file", "content"),
    [
        (".claude/.credentials.json", "{}"),
        (".claude.json", '{"oauthAccount": {"x": 1}}'),
        (".claude/settings.json", '{"apiKeyHelper": "/bin/key"}'),
    ],
)
def test_a_login_shows_on_disk(tmp_path: Path, file: str, content: str) -> None:
    env = {"HOME": str(tmp_path)}
    assert not is_logged_in(env)
    place = tmp_path / file
    place.parent.mkdir(exist_ok=True)
    place.write_text(content)
    assert is_logged_in(env)


def test_a_login_shows_in_the_environment(tmp_path: Path) -> None:
    env = {"HOME": str(tmp_path)}
    (tmp_path / ".claude.json").write_text("not json")
    assert not is_logged_in(env)
    assert is_logged_in({**env, "CLAUDE_CODE_OAUTH_TOKEN": "x"})
