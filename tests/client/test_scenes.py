"""A session goes in, a proved skill comes out, the next session uses it: on each real client."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable

import pytest
from client_sandbox import ClientSandbox, wait_until
from folder_contents import contents_of
from scripted_api import Body, Turn, request_text
from site_build import (
    BUILD,
    PROMPT,
    break_build,
    failing_then_passing,
    have_skill,
    long_sleep,
    make_project,
    play_fix,
)

pytestmark = [pytest.mark.client, pytest.mark.process]


@pytest.fixture
def project(sandbox: ClientSandbox) -> ClientSandbox:
    make_project(sandbox.project)
    sandbox.init()
    return sandbox


def test_two_sessions_prove_a_skill_and_the_third_is_shown_it(project: ClientSandbox) -> None:
    skills = project.project / project.skills_folder
    first = project.wait_for_review(play_fix(project))
    assert first["status"] == "done", first
    (skill,) = project.json("list", "--all")
    assert skill["state"] == "candidate"
    assert not (skills / skill["name"]).exists()

    project.wait_for_review(play_fix(project))
    (skill,) = project.json("list", "--all")
    assert skill["state"] == "active"

    text = (skills / skill["name"] / "SKILL.md").read_text()
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
        assert not path.is_file() or b"not-a-real-key" not in path.read_bytes(), path

    project.play("The site build fails again, have a look.", Turn("Hello."))
    opening = request_text(project.session_requests()[0])
    assert f"- {skill['name']}:" in opening, "the client's own listing"
    assert "skill-learner search" in opening, "the index block of the notes"
    assert opening.count(skill["name"]) >= 2, "listed by the client and by the notes"
    assert f"skill-learner show {skill['name']}" not in opening, "news are the user's"


def test_a_killed_client_is_recovered_by_the_next_session(project: ClientSandbox) -> None:
    sleep, begun = long_sleep(project)
    project.api.script(*failing_then_passing(project)[:-1], Turn("Waiting.", [sleep]))
    client = project.start_client(PROMPT)
    try:
        wait_until(begun.exists, 60, project.state_report)
    finally:
        os.killpg(client.pid, signal.SIGKILL)
        client.communicate(timeout=10)
    (killed,) = project.journals()
    records = project.records(killed)
    assert any("built 12 pages" in str(record["d"].get("tool_response")) for record in records)
    assert not {"Stop", "SessionEnd"} & {record["e"] for record in records}

    project.play("hello", Turn("Hello."))
    job = project.wait_for_review(killed)
    assert job["status"] == "done", job
    (skill,) = project.json("list", "--all")
    assert skill["state"] == "candidate"


def test_two_sessions_at_once_keep_every_event(project: ClientSandbox) -> None:
    def of_worker(who: str) -> Callable[[Body], bool]:
        return lambda body: bool(body.get("tools")) and f"worker-{who}" in request_text(body)

    commands = {who: [f"echo session-{who} step-{n}" for n in range(5)] for who in "ab"}
    calls = [
        Turn(calls=[project.shell(command)], only_if=of_worker(who))
        for who in "ab"
        for command in commands[who]
    ]
    ends = [Turn(f"done {who}", only_if=of_worker(who)) for who in "ab"]
    project.api.script(*calls, *ends)
    clients = [project.start_client(f"worker-{who}") for who in "ab"]
    outputs = [client.communicate(timeout=120)[0] for client in clients]
    sessions = [project.session_id(output) for output in outputs]
    assert len(set(sessions)) == 2
    for who, session in zip("ab", sessions, strict=True):
        job = project.wait_for_review(session)
        assert job["status"] == "done", job
        records = project.records(session)
        used = [r["d"]["tool_input"]["command"] for r in records if r["e"] == "PostToolUse"]
        assert used == commands[who]
        assert [r["e"] for r in records if r["e"] in {"SessionStart", "Stop", "SessionEnd"}] == [
            "SessionStart", "Stop", "SessionEnd",
        ]  # fmt: skip


OTHER_SETTINGS = {
    "claude-code": b'{\r\n\t"env": {"A": "1"}\r\n}',
    "codex": b'{\r\n\t"description": "ours", "hooks": {"Stop": []}\r\n}',
}


def test_uninstall_leaves_a_session_without_a_trace(sandbox: ClientSandbox) -> None:
    make_project(sandbox.project)
    (sandbox.project / sandbox.notes_file).write_bytes(b"# House rules\r\nNo final newline")
    settings = sandbox.project / sandbox.settings_file
    settings.parent.mkdir()
    settings.write_bytes(OTHER_SETTINGS[sandbox.target])
    before = contents_of(sandbox.project, without=".git")
    sandbox.init()
    have_skill(sandbox)
    sandbox.wait_for_review(play_fix(sandbox))
    assert contents_of(sandbox.project, without=".git") != before
    sandbox.run("uninstall", "--target", sandbox.target)
    break_build(sandbox.project)
    assert contents_of(sandbox.project, without=".git") == before

    journals = len(sandbox.journals())
    sandbox.play("hello", Turn("Hello."))
    assert len(sandbox.journals()) == journals
    assert "skill-learner" not in request_text(sandbox.session_requests()[0])
