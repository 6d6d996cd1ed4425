"""`why` names the step where a session stopped, `doctor` what is wrong and how to mend it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hook_sandbox import SESSION, HookSandbox

from skill_learner.cli.check_state import drafts_in
from skill_learner.jobs import JobStore, Wish
from skill_learner.paths import StatePaths

Run = Callable[..., Any]

pytestmark = pytest.mark.process


def last(run_json: Run, *session: str) -> dict[str, Any]:
    return dict(run_json("why", *session)["stations"][-1])


def act(hooks: HookSandbox, command: str = "npm test", output: str = "done") -> None:
    hooks.run("PostToolUse", call(hooks, "Bash", {"command": command}, {"stdout": output}))


def call(hooks: HookSandbox, tool: str, given: dict[str, str], response: Any = None) -> bytes:
    more = {"tool_response": response} if response is not None else {}
    unique = f"toolu_{time.monotonic_ns()}"
    fields = {"tool_name": tool, "tool_input": given, "tool_use_id": unique, **more}
    return hooks.payload("PostToolUse", **fields)


def learn_something(hooks: HookSandbox) -> None:
    """A test fails, a file is changed, the test passes."""
    test, file = "pytest tests/test_cart.py", str(hooks.project / "settings.toml")
    error = "FAILED tests/test_cart.py - ValueError: currency code missing in settings.toml"
    words = hooks.payload("UserPromptSubmit", prompt="make the checkout tests pass")
    hooks.run("UserPromptSubmit", words)
    failed = json.loads(call(hooks, "Bash", {"command": test})) | {"error": f"Exit code 1\n{error}"}
    hooks.run("PostToolUseFailure", json.dumps(failed).encode())
    change = {"file_path": file, "old_string": "[shop]", "new_string": '[shop]\ncurrency = "EUR"'}
    hooks.run("PostToolUse", call(hooks, "Edit", change, {"filePath": file}))
    act(hooks, test, "1 passed in 0.02s")
    hooks.run("Stop")


def test_a_prompt_that_came_torn_stops_no_command(hooks: HookSandbox, run: Run) -> None:
    whole = hooks.payload("UserPromptSubmit", prompt="look at C:\\dir\\work").replace(
        b"\\\\", b"\\"
    )
    hooks.run("UserPromptSubmit", whole[: whole.index(b"work") + 4])
    act(hooks)
    for command in ("why", "stats", "review", "purge --dry-run", f"review --session {SESSION}"):
        run(*command.split())
    run("review", "--detached")
    assert "JSONDecodeError" not in run("doctor", code=None).output
    assert not (hooks.state / "review.log").exists()


def test_why_without_any_session_names_what_keeps_hooks_silent(hooks: Any, run_json: Run) -> None:
    station = last(run_json)
    assert (station["step"], station["result"]) == ("hook", "stopped")
    assert "no editor is set up here" in station["what"]
    (hooks.project / ".skill-learner-off").touch()
    assert ".skill-learner-off" in last(run_json)["what"]


def test_why_follows_a_session_to_its_trigger_and_its_review(
    hooks: HookSandbox, run: Run, run_json: Run
) -> None:
    act(hooks)
    station = last(run_json)
    assert (station["step"], station["result"]) == ("trigger", "stopped")
    assert "1 of 10 calls" in station["what"]
    assert "nothing non-obvious" in station["what"]
    assert station["change"] == f"skill-learner review --session {SESSION}"
    run("review", "--session", SESSION)
    station = last(run_json, SESSION[:8])
    assert (station["step"], station["result"]) == ("signal", "stopped")
    assert "remember" in station["change"]
    assert "remember" in run("why").output
    run("purge", "--yes")
    assert last(run_json)["step"] == "hook"


def test_why_tells_of_a_skill_that_waits_and_one_that_shows(
    hooks: HookSandbox, run: Run, run_json: Run
) -> None:
    run("init", "--target", "claude-code", "--provider", "offline")
    learn_something(hooks)
    run("review", "--session", SESSION)
    stations = run_json("why")["stations"]
    steps = [station["step"] for station in stations]
    assert steps[:3] == ["hook", "journal", "trigger"]
    assert "gate" in steps
    assert "file" in steps
    end = stations[-1]
    (name,) = [row["name"] for row in run_json("list", "--all")]
    if end["result"] == "stopped":
        assert f"skill-learner approve {name}" in end["change"]
        run("approve", name)
        end = last(run_json)
    assert (end["step"], end["result"]) == ("listing", "ok")
    link = hooks.project / ".claude" / "skills" / name
    link.unlink()
    assert last(run_json)["result"] == "stopped"
    link.mkdir()
    (link / "notes").touch()
    assert "is something else" in last(run_json)["what"]


def test_why_tells_whether_a_skill_travelled_and_why_it_stayed(
    hooks: HookSandbox, run: Run, run_json: Run, tmp_path: Path
) -> None:
    run("init", "--target", "claude-code", "--provider", "offline")
    learn_something(hooks)
    run("review", "--session", SESSION)
    assert "sync" not in [station["step"] for station in run_json("why")["stations"]]
    bare = tmp_path / "team.git"
    subprocess.run(["git", "init", "--quiet", "--bare", str(bare)], check=True)
    run("remote", "add", "team", str(bare))
    (row,) = run_json("list", "--all")
    name = row["name"]
    if row["state"] != "active":
        assert "only active ones travel" in last(run_json)["what"]
        assert last(run_json)["change"].startswith(f"skill-learner approve {name}")
        run("approve", name)
    station = last(run_json)
    assert (station["step"], station["result"]) == ("sync", "stopped")
    assert "was not sent yet, last sync never" in station["what"]
    assert station["change"] == "skill-learner sync team"
    run("sync")
    assert (last(run_json)["result"], last(run_json)["change"]) == ("ok", "")
    assert "is shared, last sync" in last(run_json)["what"]
    path = Path(run_json("show", name)["path"])
    path.write_text(path.read_text() + "\nghp_" + "a1B2c3D4e5" * 3 + "f6G7h8\n")
    run("sync")
    assert f"{name} stays at home: it holds what must not leave" in last(run_json)["what"]
    assert str(path) in last(run_json)["change"]
    shutil.rmtree(bare)
    path.write_text(path.read_text().rpartition("\nghp_")[0] + "\nAnd so on.\n")
    run("sync", code=8)
    assert "the last sync failed" in last(run_json)["what"]


def test_why_names_a_failed_review_and_a_queued_one(
    hooks: HookSandbox, run: Run, run_json: Run
) -> None:
    act(hooks)
    store = JobStore(StatePaths(hooks.state))
    store.queue(Wish(SESSION, str(hooks.project), hooks.key, "claude-code", "nudge"))
    assert last(run_json)["change"] == "skill-learner review"
    job = store.take()
    assert job is not None
    assert last(run_json)["what"] == "runs now"
    store.finish(job, "failed", "the provider said no")
    station = last(run_json)
    assert (station["step"], station["result"]) == ("review", "stopped")
    assert "the provider said no" in station["what"]


def test_why_of_an_unknown_session(hooks: HookSandbox, run: Run) -> None:
    assert "no session 'nobody'" in run("why", "nobody", code=6).output
    folder = hooks.state / "journal"
    folder.mkdir()
    (folder / "aa1.jsonl").touch()
    (folder / "aa2.jsonl").touch()
    assert "begins several sessions" in run("why", "aa", code=6).output


def checks(run: Run, *more: str, code: int) -> dict[str, dict[str, Any]]:
    rows = json.loads(run("doctor", "--json", *more, code=code).stdout)
    return {row["check"]: row for row in rows}


def test_doctor_closes_what_others_may_read(hooks: HookSandbox, run: Run) -> None:
    act(hooks)
    hooks.state.chmod(0o755)
    journal = hooks.state / "journal" / f"{SESSION}.jsonl"
    journal.parent.chmod(0o755)
    journal.chmod(0o644)
    outside = hooks.home / "outside"
    outside.mkdir(mode=0o755)
    (hooks.state / "linked").symlink_to(outside)
    found = checks(run, code=1)["permissions"]
    assert (found["result"], found["fixable"]) == ("fault", True)
    assert "mended" in checks(run, "--fix", code=0)["permissions"]["what"]
    assert [path.stat().st_mode & 0o777 for path in (hooks.state, journal)] == [0o700, 0o600]
    assert outside.stat().st_mode & 0o777 == 0o755
    assert checks(run, code=0)["permissions"]["result"] == "ok"


def test_doctor_installs_again_what_is_incomplete(hooks: HookSandbox, run: Run) -> None:
    run("init", "--target", "claude-code", "--provider", "offline")
    settings = hooks.project / ".claude" / "settings.json"
    value = json.loads(settings.read_bytes())
    del value["hooks"]["Stop"]
    value["model"] = "opus"
    settings.write_text(json.dumps(value))
    (hooks.state / "hook.sh").unlink()
    found = checks(run, code=1)["claude-code, project"]
    assert "Stop" in found["what"]
    assert "hook.sh" in found["what"]
    assert checks(run, "--fix", code=0)["claude-code, project"]["result"] == "ok"
    mended = json.loads(settings.read_bytes())
    assert (len(mended["hooks"]), mended["model"]) == (len(value["hooks"]) + 1, "opus")
    assert "ms" in checks(run, code=0)["hook"]["what"]


def test_doctor_does_not_mend_settings_it_cannot_read(hooks: HookSandbox, run: Run) -> None:
    run("init", "--target", "claude-code", "--provider", "offline")
    settings = hooks.project / ".claude" / "settings.json"
    settings.write_text('{ // mine\n "hooks": {}, }')
    assert checks(run, "--fix", code=1)["claude-code, project"]["result"] == "fault"
    assert settings.read_text() == '{ // mine\n "hooks": {}, }'


def test_doctor_sees_sessions_that_ran_without_any_hook(hooks: HookSandbox, run: Run) -> None:
    run("init", "--target", "claude-code", "--provider", "offline")
    name = "".join(c if c.isascii() and c.isalnum() else "-" for c in str(hooks.project))
    folder = hooks.home / ".claude" / "projects" / name
    folder.mkdir(parents=True)
    line = {"type": "user", "cwd": str(hooks.project), "timestamp": "2001-01-01T00:00:00Z"}
    (folder / "before.jsonl").write_text(json.dumps(line) + "\n")
    assert checks(run, code=0)["claude-code, project: events"]["result"] == "note"
    line["timestamp"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 5))
    (folder / "after.jsonl").write_text(json.dumps(line) + "\n")
    found = checks(run, code=1)["claude-code, project: events"]
    assert "1 sessions ran here" in found["what"]


def test_doctor_finds_sessions_without_review_and_queues_them(hooks: HookSandbox, run: Run) -> None:
    environ = hooks.environ(CLAUDE_PID="999999999")
    hooks.run("UserPromptSubmit", hooks.payload("UserPromptSubmit", prompt="x"), environ)
    assert SESSION in checks(run, code=0)["journals"]["what"]
    assert "queued 1" in checks(run, "--fix", code=0)["journals"]["what"]
    assert [job.session for job in JobStore(StatePaths(hooks.state)).open()] == [SESSION]
    assert "journals" not in checks(run, code=0)


def test_doctor_sees_clocks_drafts_pauses_and_folders_that_are_gone(
    hooks: HookSandbox, run: Run, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    run("init", "--target", "claude-code", "--provider", "offline", "--project-dir", str(other))
    act(hooks)
    journal = hooks.state / "journal" / f"{SESSION}.jsonl"
    os.utime(journal, (time.time() + 1e6,) * 2)
    draft = hooks.state / "journal" / ".ledger.jsonl.a1b2c3d4.sl-draft"
    draft.touch()
    os.utime(draft, (time.time() - 1e5,) * 2)
    run("pause", "1h")
    for path in sorted(other.rglob("*"), reverse=True):
        path.unlink() if path.is_symlink() or path.is_file() else path.rmdir()
    other.rmdir()
    found = checks(run, code=0)
    assert str(other) in found["register"]["what"]
    assert {"clock", "drafts", "pause"} <= found.keys()
    assert "folder gone" in run("status", "--all").output
    run("uninstall", "--gone")
    mended = checks(run, "--fix", code=0)
    assert "register" not in mended
    assert not draft.exists()
    assert journal.stat().st_mtime < time.time() + 60


def test_a_fresh_draft_is_somebody_at_work(tmp_path: Path) -> None:
    (tmp_path / ".a.json.abcdefgh.sl-draft").touch()
    assert drafts_in(tmp_path) == []
    assert len(drafts_in(tmp_path, min_age=-5)) == 1


def test_uninstall_all_takes_out_every_install_and_leaves_what_it_may_not_touch(
    hooks: HookSandbox, run: Run, run_json: Run, tmp_path: Path
) -> None:
    places = []
    for name in ("one", "two"):
        place = tmp_path / name
        place.mkdir()
        places.append(place)
        run("init", "--target", "claude-code", "--provider", "offline", "--project-dir", str(place))
    run("init", "--target", "claude-code", "--provider", "offline", "--user")
    assert len(run_json("status", "--all")) == 3
    broken = places[0] / ".claude" / "settings.json"
    text = broken.read_text()
    broken.write_text("{ // mine\n}")
    refused = run("uninstall", "--all", code=3).output
    assert str(places[0]) in refused
    assert [row["root"] for row in run_json("status", "--all")] == [str(places[0])]
    assert list(places[1].iterdir()) == []
    broken.write_text(text)
    run("uninstall", "--all", "--purge", "--yes")
    assert list(places[0].iterdir()) == []
    assert not hooks.state.exists()
    run("uninstall", code=2)
    run("uninstall", "--all", "--target", "claude-code", code=2)
