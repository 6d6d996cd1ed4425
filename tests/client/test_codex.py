"""What is Codex's own in the scenes: trust, what its hooks are not told, how it loads a skill."""

from __future__ import annotations

import json
import os
import signal
import subprocess

import pytest
from client_sandbox import wait_until
from codex_sandbox import CodexSandbox
from scripted_api import Body, Turn, request_text
from scripted_responses_api import agent, script, shell
from site_build import (
    BROKEN,
    BUILD,
    CONFIG,
    FIXED,
    PROMPT,
    break_build,
    failing_then_passing,
    have_skill,
    long_sleep,
    make_project,
)

pytestmark = [pytest.mark.client, pytest.mark.process]


@pytest.fixture
def project(codex: CodexSandbox) -> CodexSandbox:
    make_project(codex.project)
    codex.init()
    return codex


@pytest.mark.parametrize(("way", "uses"), [("read", 1), ("named", 1), ("both", 2)])
def test_a_skill_that_codex_loads_is_counted(project: CodexSandbox, way: str, uses: int) -> None:
    name = have_skill(project)
    read = Turn("There is a skill.", [shell(f"cat .agents/skills/{name}/SKILL.md")])
    session = project.play(
        "Build the site." if way == "read" else f"Use ${name} on the site build.",
        *([] if way == "named" else [read]),
        Turn("Read it; done."),
    )
    project.wait_for_review(session)
    opening, last = project.api.requests[0], project.api.requests[-1]
    assert "by reading its SKILL.md" in request_text(opening)
    assert "Skill tool" not in request_text(opening)
    assert "E417" in request_text(last)
    (used,) = [row for row in project.json("stats")["skills"] if row["name"] == name]
    assert used["uses"] == uses


# -- trust --------------------------------------------------------------------------------------


def not_run(sandbox: CodexSandbox) -> list[str]:
    (install,) = sandbox.json("status")["installs"]
    return list(install["not_run"])


def test_what_codex_would_skip_is_said(codex: CodexSandbox) -> None:
    make_project(codex.project)
    assert "/hooks" in codex.run("init", "--target", "codex")
    (reason,) = not_run(codex)
    assert "8 of 8 hooks are not trusted yet" in reason
    assert "not trusted yet" in codex.run("doctor", check=False)
    codex.play("hello", Turn("Hello."))
    assert codex.journals() == {}, "that is what skipped silently means"

    codex.trust_hooks()
    assert not_run(codex) == []
    assert "not trusted" not in codex.run("doctor", check=False)
    codex.run("init", "--target", "codex")
    assert not_run(codex) == [], "another init keeps the bytes, and so the trust"


def test_an_untrusted_project_is_said_to_be_one(codex: CodexSandbox) -> None:
    config = codex.codex_home / "config.toml"
    config.write_text(config.read_text(encoding="utf-8").partition("[projects.")[0])
    codex.run("init", "--target", "codex")
    (reason,) = not_run(codex)
    assert "does not trust the project" in reason


def test_the_trust_in_other_hooks_is_kept(codex: CodexSandbox) -> None:
    settings = codex.project / ".codex" / "hooks.json"
    settings.parent.mkdir()
    hook = {"hooks": [{"type": "command", "command": "true"}]}
    settings.write_text(json.dumps({"hooks": {"Stop": [hook], "SessionEnd": [hook]}}))
    codex.trust_hooks()
    codex.run("init", "--target", "codex")
    states = {hook["command"]: hook["trustStatus"] for hook in codex.hooks()}
    assert states.pop("true") == "trusted"
    assert set(states.values()) == {"untrusted"}


# -- what hooks are not told --------------------------------------------------------------------


def test_a_script_of_calls_is_learned_from(project: CodexSandbox) -> None:
    project.configure(model="gpt-6.2-sol")
    project.trust_hooks()
    run = f'text((await tools.exec_command({{cmd: "{BUILD}"}})).output)'
    repair = json.dumps(project.repair(CONFIG, BROKEN, FIXED)["input"])
    codes = [run, run, f"await tools.apply_patch({repair})", run]
    break_build(project.project)
    session = project.play(
        PROMPT, *(Turn("On it.", [script(code)]) for code in codes), Turn("It passes.")
    )
    job = project.wait_for_review(session)
    (skill,) = project.json("list", "--all")
    assert skill["state"] == "candidate", job


def test_an_api_error_ends_a_session_without_a_stop(project: CodexSandbox) -> None:
    session = project.play(
        "List it.", Turn("Listing.", [shell("ls")]), Turn(status=500), fails=True
    )
    events = [record["e"] for record in project.records(session)]
    assert events == ["SessionStart", "UserPromptSubmit", "PostToolUse", "SessionEnd"]
    assert project.wait_for_review(session)["status"] == "done"


def test_an_interrupt_is_one_in_the_journal(project: CodexSandbox) -> None:
    sleep, begun = long_sleep(project)
    project.api.script(Turn("Waiting.", [sleep]))
    client = project.start_client("Wait.")
    wait_until(begun.exists, 60, project.state_report)
    os.killpg(client.pid, signal.SIGINT)
    session = project.session_id(client.communicate(timeout=30)[0])
    events = [record["e"] for record in project.records(session)]
    assert events == ["SessionStart", "UserPromptSubmit", "Interrupt", "SessionEnd"]
    job = project.wait_for_review(session)
    assert job["status"] == "done", job


def test_a_session_without_a_rollout_is_learned_from(project: CodexSandbox) -> None:
    break_build(project.project)
    project.api.script(*failing_then_passing(project))
    session = project.ask(PROMPT, "--ephemeral")
    assert not list((project.codex_home / "sessions").rglob(f"*{session}*"))
    assert project.wait_for_review(session)["status"] == "done"
    assert [r["e"] for r in project.records(session)].count("PostToolUse") == 5


def test_a_prompt_that_a_skill_fits_is_given_it(project: CodexSandbox) -> None:
    name = have_skill(project)
    project.play(
        "The build stops: BuildError: E417 asset pipeline has no manifest. Why?", Turn("Hello.")
    )
    developer = [
        request_text(item)
        for item in project.api.requests[0]["input"]
        if item.get("role") == "developer" and "skill-learner: learned" in request_text(item)
    ]
    assert len(developer) == 1
    assert name in developer[0]


def test_a_linked_worktree_is_the_same_project(project: CodexSandbox) -> None:
    name = have_skill(project)
    tree = project.project.parent / "tree"
    who = ["-c", "user.name=Test", "-c", "user.email=test@example.invalid"]
    git = ["git", "-C", str(project.project), *who]
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    subprocess.run([*git, "worktree", "add", "-q", str(tree), "-b", "t"], check=True)
    (tree / ".codex").mkdir()  # as a commit of .codex/hooks.json brings it
    shown = []
    for _ in range(2):
        session = project.play("hello", Turn("Hello."), cwd=tree)
        shown.append(f"- {name}: " in request_text(project.api.requests[0]))
        assert {r["p"] for r in project.records(session)} == {str(project.project)}
    assert shown[1], "at the latest in the second session; the hooks of the first one link it"
    assert (tree / ".agents" / "skills" / name).is_symlink()


def test_a_resumed_session_goes_on_in_its_journal(project: CodexSandbox) -> None:
    session = project.play(
        "First.", Turn("One.", [shell("echo one")]), Turn("Two.", [shell("echo two")])
    )
    project.api.script(Turn("Three.", [shell("echo three")]))
    assert project.ask("Second.", "resume", session) == session
    records = project.records(session)
    sources = [r["d"]["source"] for r in records if r["e"] == "SessionStart"]
    assert sources == ["startup", "resume"]
    assert [r["e"] for r in records].count("SessionEnd") == 2, "seconds apart, and no twins"


def test_subagents_count_for_nothing(project: CodexSandbox) -> None:
    def of_child(body: Body) -> bool:
        return "SUBTASK" in request_text(body) and "Spawning." not in request_text(body)

    project.api.script(
        Turn(calls=[shell("echo from-the-child")], only_if=of_child),
        Turn("child done", only_if=of_child),
        Turn("Spawning.", [agent("SUBTASK do it")]),
        Turn("Waiting.", [shell("sleep 2", yield_time_ms=10_000)]),
        Turn("All done."),
    )
    session = project.ask("Delegate.")
    records = project.records(session)
    commands = [
        (record["d"]["tool_input"]["command"], bool(record["d"].get("agent_id")))
        for record in records
        if record["e"] == "PostToolUse" and record["d"]["tool_name"] == "Bash"
    ]
    assert sorted(commands) == [("echo from-the-child", True), ("sleep 2", False)]
    assert "SubagentStop" in [record["e"] for record in records]
    assert project.wait_for_review(session)["status"] == "done"


def test_two_registrations_record_an_event_once(project: CodexSandbox) -> None:
    project.run("init", "--target", "codex", "--user")
    project.trust_hooks()
    session = project.play(
        "Count.", *(Turn(calls=[shell(f"echo {n}")]) for n in range(4)), Turn("Done.")
    )
    assert len(project.hooks()) == 16
    events = [record["e"] for record in project.records(session)]
    assert events == [
        "SessionStart", "UserPromptSubmit", *["PostToolUse"] * 4, "Stop", "SessionEnd",
    ]  # fmt: skip
