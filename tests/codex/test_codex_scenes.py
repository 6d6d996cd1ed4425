"""A session goes in, a proved skill comes out, the next session uses it: on the real Codex."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from client_sandbox import wait_until
from codex_sandbox import KEY, CodexSandbox, session_id
from scripted_responses_api import Reply, agent, patch, request_text, script, shell

pytestmark = [pytest.mark.client, pytest.mark.process]

BUILD = "python3 tools/build.py"
BROKEN = "assets: public\n"
FIXED = "assets: public\nmanifest: public/manifest.json\n"
REPAIR = ("*** Update File: site.yaml", "@@", " assets: public", "+manifest: public/manifest.json")


def make_project(project: Path) -> None:
    """A build that fails for a reason one has to find once: the manifest key is missing."""
    (project / "tools").mkdir(exist_ok=True)
    (project / "tools" / "build.py").write_text(
        "import sys, pathlib\n"
        "config = pathlib.Path('site.yaml').read_text()\n"
        "if 'manifest:' not in config:\n"
        "    sys.exit('BuildError: E417 asset pipeline has no manifest:'\n"
        "             ' set `manifest` in site.yaml')\n"
        "print('built 12 pages')\n"
    )
    (project / "site.yaml").write_text(BROKEN)


def failing_then_passing() -> list[Reply]:
    return [
        Reply("Building.", [shell(BUILD)]),
        Reply("Once more.", [shell(BUILD)]),
        Reply("Looking at the configuration.", [shell("cat site.yaml")]),
        Reply("Adding it.", [patch(*REPAIR)]),
        Reply("Again.", [shell(BUILD)]),
        Reply("The build passes now."),
    ]


def play_fix(sandbox: CodexSandbox) -> str:
    (sandbox.project / "site.yaml").write_text(BROKEN)
    sandbox.api.script(*failing_then_passing())
    session = sandbox.ask("Please get the site build to work.")
    assert (sandbox.project / "site.yaml").read_text() == FIXED
    return session


def tree(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".git" not in path.relative_to(folder).parts[:1]
    }


def records_of(sandbox: CodexSandbox, session: str) -> list[dict[str, Any]]:
    lines = sandbox.journals()[session].read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line]


@pytest.fixture
def project(sandbox: CodexSandbox) -> CodexSandbox:
    make_project(sandbox.project)
    sandbox.run("init", "--target", "codex")
    sandbox.trust_hooks()
    return sandbox


@pytest.fixture
def learned(project: CodexSandbox) -> tuple[CodexSandbox, str]:
    """A project in which two sessions have proved the same fix."""
    project.wait_for_review(play_fix(project))
    project.wait_for_review(play_fix(project))
    (skill,) = project.json("list")
    return project, skill["name"]


# -- the six scenes -----------------------------------------------------------------------------


def test_two_codex_sessions_prove_a_skill(project: CodexSandbox) -> None:
    first = project.wait_for_review(play_fix(project))
    assert first["status"] == "done", first
    (skill,) = project.json("list", "--all")
    assert skill["state"] == "candidate"
    assert not (project.project / ".agents" / "skills" / skill["name"]).exists()

    project.wait_for_review(play_fix(project))
    (skill,) = project.json("list", "--all")
    assert skill["state"] == "active"

    text = (project.project / ".agents" / "skills" / skill["name"] / "SKILL.md").read_text()
    assert "E417" in text
    assert BUILD in text
    assert "site.yaml" in text
    assert str(project.home) not in text
    git_status = subprocess.run(
        ["git", "status", "--porcelain", "-uall"],
        cwd=project.project, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert skill["name"] not in git_status
    for path in project.state.rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes(), path


def test_the_next_codex_session_is_shown_the_skill(learned: tuple[CodexSandbox, str]) -> None:
    sandbox, name = learned
    sandbox.api.script(Reply("Hello."))
    sandbox.ask("The site build fails again, have a look.")
    opening = request_text(sandbox.api.requests[0])
    assert f"- {name}: " in opening, "the client's own list of skills, and the index of AGENTS.md"
    assert "by reading its SKILL.md" in opening
    assert "skill-learner search" in opening
    assert "Skill tool" not in opening
    assert f"skill-learner show {name}" not in opening, "news are the user's, not the model's"


@pytest.mark.parametrize("way", ["read", "named", "both"])
def test_a_skill_that_codex_loads_is_counted(learned: tuple[CodexSandbox, str], way: str) -> None:
    sandbox, name = learned
    reads = [Reply("There is a skill.", [shell(f"cat .agents/skills/{name}/SKILL.md")])]
    sandbox.api.script(*(reads if way != "named" else []), Reply("Read it; done."))
    session = sandbox.ask(f"Use ${name} on the site build." if way != "read" else "Build the site.")
    sandbox.wait_for_review(session)
    assert "E417" in request_text(sandbox.api.requests[-1])
    (used,) = [row for row in sandbox.json("stats")["skills"] if row["name"] == name]
    assert used["uses"] == (2 if way == "both" else 1)


def test_a_killed_codex_is_recovered_by_the_next_session(project: CodexSandbox) -> None:
    (project.project / "site.yaml").write_text(BROKEN)
    sleep = shell("python3 -c 'import time; time.sleep(60)'", yield_time_ms=30_000)
    project.api.script(*failing_then_passing()[:-1], Reply("Waiting.", [sleep]))
    client = subprocess.Popen(
        project.client_command("Please get the site build to work."),
        cwd=project.project, env=project.environment(), stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip

    def sleeping() -> bool:
        journals = project.journals().values()
        built = any(b"built 12 pages" in path.read_bytes() for path in journals)
        return built and not project.api.replies

    try:
        wait_until(sleeping, 60, project.state_report)
        time.sleep(0.5)  # the sleep must be under way: that is what "in mid-tool" means
    finally:
        os.killpg(client.pid, signal.SIGKILL)
        client.wait(timeout=10)
    (killed,) = project.journals()
    assert not {"Stop", "SessionEnd"} & {record["e"] for record in records_of(project, killed)}

    project.api.script(Reply("Hello."))
    project.ask("hello")
    job = project.wait_for_review(killed)
    assert job["status"] == "done", job
    (skill,) = project.json("list", "--all")
    assert skill["state"] == "candidate"


def test_two_codex_sessions_at_once_keep_every_event(project: CodexSandbox) -> None:
    def mine(who: str) -> Any:
        return lambda body: f"worker-{who}" in request_text(body)

    replies = [
        Reply(calls=[shell(f"echo session-{who} step-{n}")], only_if=mine(who))
        for who in "ab"
        for n in range(5)
    ]
    ends = [Reply(f"done {who}", only_if=mine(who)) for who in "ab"]
    project.api.script(*replies, *ends)
    clients = [
        subprocess.Popen(
            project.client_command(f"worker-{who}"),
            cwd=project.project, env=project.environment(), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for who in "ab"
    ]  # fmt: skip
    sessions = [session_id(client.communicate(timeout=120)[0]) for client in clients]
    assert len(set(sessions)) == 2
    for who, session in zip("ab", sessions, strict=True):
        job = project.wait_for_review(session)
        assert job["status"] == "done", job
        records = records_of(project, session)
        used = [r["d"]["tool_input"]["command"] for r in records if r["e"] == "PostToolUse"]
        assert used == [f"echo session-{who} step-{n}" for n in range(5)]
        assert [r["e"] for r in records if r["e"] in {"SessionStart", "Stop", "SessionEnd"}] == [
            "SessionStart", "Stop", "SessionEnd",
        ]  # fmt: skip


def test_uninstall_leaves_codex_without_a_trace(sandbox: CodexSandbox) -> None:
    make_project(sandbox.project)
    (sandbox.project / "AGENTS.md").write_bytes(b"# House rules\r\nNo final newline")
    settings = sandbox.project / ".codex" / "hooks.json"
    settings.parent.mkdir()
    settings.write_bytes(b'{\r\n\t"description": "ours", "hooks": {"Stop": []}\r\n}')
    before = tree(sandbox.project)
    sandbox.run("init", "--target", "codex")
    sandbox.trust_hooks()
    sandbox.wait_for_review(play_fix(sandbox))
    sandbox.wait_for_review(play_fix(sandbox))
    sandbox.run("uninstall", "--target", "codex")
    (sandbox.project / "site.yaml").write_text(BROKEN)
    assert tree(sandbox.project) == before

    sandbox.api.script(Reply("Hello."))
    journals = len(sandbox.journals())
    sandbox.ask("hello")
    assert len(sandbox.journals()) == journals
    assert "skill-learner" not in request_text(sandbox.api.requests[0])


# -- trust --------------------------------------------------------------------------------------


def not_run(sandbox: CodexSandbox) -> list[str]:
    (install,) = sandbox.json("status")["installs"]
    return list(install["not_run"])


def test_what_codex_would_skip_is_said(sandbox: CodexSandbox) -> None:
    make_project(sandbox.project)
    assert "/hooks" in sandbox.run("init", "--target", "codex")
    (reason,) = not_run(sandbox)
    assert "8 of 8 hooks are not trusted yet" in reason
    assert "not trusted yet" in sandbox.run("doctor", check=False)
    sandbox.api.script(Reply("Hello."))
    sandbox.ask("hello")
    assert sandbox.journals() == {}, "that is what skipped silently means"

    sandbox.trust_hooks()
    assert not_run(sandbox) == []
    assert "not trusted" not in sandbox.run("doctor", check=False)
    sandbox.run("init", "--target", "codex")
    assert not_run(sandbox) == [], "another init keeps the bytes, and so the trust"


def test_an_untrusted_project_is_said_to_be_one(sandbox: CodexSandbox) -> None:
    config = sandbox.codex_home / "config.toml"
    config.write_text(config.read_text(encoding="utf-8").partition("[projects.")[0])
    sandbox.run("init", "--target", "codex")
    (reason,) = not_run(sandbox)
    assert "does not trust the project" in reason


def test_the_trust_in_other_hooks_is_kept(sandbox: CodexSandbox) -> None:
    settings = sandbox.project / ".codex" / "hooks.json"
    settings.parent.mkdir()
    hook = {"hooks": [{"type": "command", "command": "true"}]}
    settings.write_text(json.dumps({"hooks": {"Stop": [hook], "SessionEnd": [hook]}}))
    sandbox.trust_hooks()
    sandbox.run("init", "--target", "codex")
    states = {hook["command"]: hook["trustStatus"] for hook in sandbox.hooks()}
    assert states.pop("true") == "trusted"
    assert set(states.values()) == {"untrusted"}


# -- what hooks are not told --------------------------------------------------------------------


def test_a_script_of_calls_is_learned_from(project: CodexSandbox) -> None:
    project.configure(model="gpt-6.2-sol")
    project.trust_hooks()
    run = f'text((await tools.exec_command({{cmd: "{BUILD}"}})).output)'
    repair = json.dumps(str(patch(*REPAIR)["input"]))
    codes = [run, run, f"await tools.apply_patch({repair})", run]
    (project.project / "site.yaml").write_text(BROKEN)
    project.api.script(*(Reply("On it.", [script(code)]) for code in codes), Reply("It passes."))
    session = project.ask("Please get the site build to work.")
    job = project.wait_for_review(session)
    (skill,) = project.json("list", "--all")
    assert skill["state"] == "candidate", job


def test_an_api_error_ends_a_session_without_a_stop(project: CodexSandbox) -> None:
    project.api.script(Reply("Listing.", [shell("ls")]), Reply(status=500))
    session = project.ask("List it.", fails=True)
    events = [record["e"] for record in records_of(project, session)]
    assert events == ["SessionStart", "UserPromptSubmit", "PostToolUse", "SessionEnd"]
    assert project.wait_for_review(session)["status"] == "done"


def test_an_interrupt_is_one_in_the_journal(project: CodexSandbox) -> None:
    sleep = shell("python3 -c 'import time; time.sleep(60)'", yield_time_ms=30_000)
    project.api.script(Reply("Waiting.", [sleep]))
    client = subprocess.Popen(
        project.client_command("Wait."),
        cwd=project.project, env=project.environment(), stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True,
    )  # fmt: skip
    wait_until(lambda: not project.api.replies and project.journals(), 60, project.state_report)
    time.sleep(1)
    os.killpg(client.pid, signal.SIGINT)
    session = session_id(client.communicate(timeout=30)[0])
    events = [record["e"] for record in records_of(project, session)]
    assert events == ["SessionStart", "UserPromptSubmit", "Interrupt", "SessionEnd"]
    job = project.wait_for_review(session)
    assert job["status"] == "done", job


def test_a_session_without_a_rollout_is_learned_from(project: CodexSandbox) -> None:
    (project.project / "site.yaml").write_text(BROKEN)
    project.api.script(*failing_then_passing())
    done = subprocess.run(
        project.client_command("--ephemeral", "Please get the site build to work."),
        cwd=project.project, env=project.environment(), stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    session = session_id(done.stdout)
    assert not list((project.codex_home / "sessions").rglob(f"*{session}*"))
    assert project.wait_for_review(session)["status"] == "done"
    assert [r["e"] for r in records_of(project, session)].count("PostToolUse") == 5


def test_a_prompt_that_a_skill_fits_is_given_it(learned: tuple[CodexSandbox, str]) -> None:
    sandbox, name = learned
    sandbox.api.script(Reply("Hello."))
    sandbox.ask("The build stops: BuildError: E417 asset pipeline has no manifest. Why?")
    developer = [
        request_text(item)
        for item in sandbox.api.requests[0]["input"]
        if item.get("role") == "developer" and "skill-learner: learned" in request_text(item)
    ]
    assert len(developer) == 1
    assert name in developer[0]


def test_a_linked_worktree_is_the_same_project(learned: tuple[CodexSandbox, str]) -> None:
    sandbox, name = learned
    tree = sandbox.project.parent / "tree"
    who = ["-c", "user.name=Test", "-c", "user.email=test@example.invalid"]
    git = ["git", "-C", str(sandbox.project), *who]
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    subprocess.run([*git, "worktree", "add", "-q", str(tree), "-b", "t"], check=True)
    (tree / ".codex").mkdir()  # as a commit of .codex/hooks.json brings it
    shown = []
    for _ in range(2):
        sandbox.api.script(Reply("Hello."))
        session = sandbox.ask("hello", cwd=tree)
        shown.append(f"- {name}: " in request_text(sandbox.api.requests[0]))
        assert {r["p"] for r in records_of(sandbox, session)} == {str(sandbox.project)}
    assert shown[1], "at the latest in the second session; the hooks of the first one link it"
    assert (tree / ".agents" / "skills" / name).is_symlink()


def test_a_resumed_session_goes_on_in_its_journal(project: CodexSandbox) -> None:
    project.api.script(Reply("One.", [shell("echo one")]), Reply("Two.", [shell("echo two")]))
    session = project.ask("First.")
    project.api.script(Reply("Three.", [shell("echo three")]))
    assert project.ask("Second.", session=session) == session
    records = records_of(project, session)
    sources = [r["d"]["source"] for r in records if r["e"] == "SessionStart"]
    assert sources == ["startup", "resume"]
    assert [r["e"] for r in records].count("SessionEnd") == 2, "seconds apart, and no twins"


def test_subagents_count_for_nothing(project: CodexSandbox) -> None:
    def of_child(body: dict[str, Any]) -> bool:
        return "SUBTASK" in request_text(body) and "Spawning." not in request_text(body)

    project.api.script(
        Reply(calls=[shell("echo from-the-child")], only_if=of_child),
        Reply("child done", only_if=of_child),
        Reply("Spawning.", [agent("SUBTASK do it")]),
        Reply("Waiting.", [shell("sleep 2", yield_time_ms=10_000)]),
        Reply("All done."),
    )
    session = project.ask("Delegate.")
    records = records_of(project, session)
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
    project.api.script(*(Reply(calls=[shell(f"echo {n}")]) for n in range(4)), Reply("Done."))
    session = project.ask("Count.")
    assert len(project.hooks()) == 16
    events = [record["e"] for record in records_of(project, session)]
    assert events == [
        "SessionStart", "UserPromptSubmit", *["PostToolUse"] * 4, "Stop", "SessionEnd",
    ]  # fmt: skip
