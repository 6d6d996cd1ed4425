"""Work that is killed (SIGKILL) at random moments, and what must be true of what is left.

Each bed has `work`, run in a child until it is killed, and `check`, run in the parent on what the
child left: it raises AssertionError, and makes good what the next start makes good by itself.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hook_sandbox import HookSandbox

from skill_learner.config import SkillLearnerConfig, write_hook_conf
from skill_learner.files import locked
from skill_learner.install.installer import install, uninstall
from skill_learner.jobs import JobStore
from skill_learner.journal import journal_path, read_journal
from skill_learner.marks import read_mark
from skill_learner.models import CreateSkill, PatchSkill
from skill_learner.pause import pause, resume
from skill_learner.pipeline import PipelineServices, run_jobs
from skill_learner.tally import unreviewed
from skill_learner.wiring import build_library, build_publisher, build_search, build_services

NOTES = "# Our rules\r\n\r\n- Täbs, not spaces\r\n".encode()
SETTINGS = b'{\n\t"model": "opus",\n\t"hooks": {"Stop": [{"hooks": []}]},\n\t"x": 1.50\n}\n'


def killed(work: Callable[[], None], seconds: float) -> bool:
    """Run `work` in a child and kill it after so long; whether it was still at it."""
    pid = os.fork()
    if not pid:
        try:
            nowhere = os.open(os.devnull, os.O_RDWR)
            os.dup2(nowhere, 1)
            work()
        except BaseException as fault:
            os.write(2, f"{type(fault).__name__}: {fault}\n".encode())
            os._exit(3)
        os._exit(0)
    time.sleep(seconds)
    os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    assert not os.WIFEXITED(status) or os.WEXITSTATUS(status) == 0, "the work itself failed"
    return os.WIFSIGNALED(status)


class HookBed:
    """Real hook processes of one session."""

    name = "journal append"

    def __init__(self, root: Path) -> None:
        self.hooks = HookSandbox(root)
        self.kept: list[str] = []
        self.hooks.run("UserPromptSubmit", self._payload("first"))
        self.kept.append("first")

    def _payload(self, prompt: str) -> bytes:
        return self.hooks.payload("UserPromptSubmit", prompt=prompt, pad="x" * 20_000)

    def strike(self, dice: random.Random, number: int) -> bool:
        process = self.hooks.popen("UserPromptSubmit", start_new_session=True)
        assert process.stdin is not None
        process.stdin.write(self._payload(f"cut {number}"))
        process.stdin.close()
        time.sleep(dice.random() * 0.02)
        hit = process.poll() is None
        if hit:
            os.killpg(process.pid, signal.SIGKILL)
        else:
            self.kept.append(f"cut {number}")
        process.wait()
        for pipe in (process.stdout, process.stderr):
            assert pipe is not None
            pipe.close()
        return hit

    def check(self, number: int) -> None:
        self.hooks.run("UserPromptSubmit", self._payload(f"whole {number}"))
        self.kept.append(f"whole {number}")
        (journal,) = (self.hooks.state / "journal").glob("*.jsonl")
        told = [record.text("prompt") for record in read_journal(journal).records]
        missing = [prompt for prompt in self.kept if told.count(prompt) != 1]
        assert not missing, f"lost or doubled: {missing}"
        assert all(told), "a torn event was read as one"


class _Project:
    """A user's project with notes and settings of its own, installed for Claude Code."""

    def __init__(self, root: Path) -> None:
        self.home = root / "home"
        self.home.mkdir(parents=True)
        os.environ["HOME"] = str(self.home)
        os.environ["GIT_CONFIG_GLOBAL"] = os.devnull
        self.project = (root / "project").resolve()
        self.project.mkdir()
        subprocess.run(["git", "init", "-q"], cwd=self.project, check=True)
        (self.project / ".claude").mkdir()
        self.notes = self.project / "CLAUDE.md"
        self.settings = self.project / ".claude" / "settings.json"
        self.notes.write_bytes(NOTES)
        self.settings.write_bytes(SETTINGS)
        self.config = SkillLearnerConfig.from_dict({"provider": "offline"})
        self.paths = self.config.paths

    def install(self) -> None:
        install("claude-code", "project", self.project, self.paths)

    def uninstall(self) -> None:
        uninstall("claude-code", "project", self.project, self.paths)

    def check_foreign(self) -> None:
        """Every byte of the user's is there; each file is as before or as we write it."""
        notes = self.notes.read_bytes()
        assert notes.startswith(NOTES), f"the notes lost something: {notes[:80]!r}"
        value = json.loads(self.settings.read_bytes())
        assert value["model"] == "opus"
        assert value["x"] == 1.5
        assert value["hooks"]["Stop"][0] == {"hooks": []}
        assert b'"x": 1.50' in self.settings.read_bytes()

    def check_undone(self) -> None:
        self.uninstall()
        assert self.notes.read_bytes() == NOTES
        assert self.settings.read_bytes() == SETTINGS
        left = {str(path.relative_to(self.project)) for path in self.project.rglob("*")}
        left = {name for name in left if not name.startswith(".git/")}
        assert left == {".git", "CLAUDE.md", ".claude", ".claude/settings.json"}, left
        exclude = self.project / ".git" / "info" / "exclude"
        assert b"skill-learner" not in exclude.read_bytes()


class InstallBed:
    """init and uninstall, pauses and settings of hooks."""

    name = "settings and notes"

    def __init__(self, root: Path) -> None:
        self.place = _Project(root)
        self.place.install()
        self.place.uninstall()

    def work(self) -> None:
        for _ in range(1_000):
            self.place.install()
            pause(self.place.paths, 4_000_000_000)
            write_hook_conf(self.place.config)
            resume(self.place.paths)
            write_hook_conf(self.place.config)
            self.place.uninstall()

    def strike(self, dice: random.Random, number: int) -> bool:
        return killed(self.work, 0.005 + dice.random() * 0.15)

    def check(self, number: int) -> None:
        self.place.check_foreign()
        self.place.install()
        self.place.check_foreign()
        self.place.check_undone()


class ReviewBed:
    """Reviews of fresh sessions that all prove the same skill, published into a project."""

    name = "job and review"

    def __init__(self, root: Path) -> None:
        self.place = _Project(root)
        self.place.install()
        self.services: PipelineServices = build_services(self.place.config, None)
        self.sessions: list[str] = []
        for warm_up in (-1, 0):
            self._session(warm_up)
            began = time.monotonic()
            self.work()
            self.longest = time.monotonic() - began

    def work(self) -> None:
        run_jobs(self.services)

    def strike(self, dice: random.Random, number: int) -> bool:
        self._session(number)
        return killed(self.work, dice.random() * self.longest)

    def _session(self, number: int) -> None:
        session = f"session-{number}"
        self.sessions.append(session)
        journal = journal_path(self.place.paths, session)
        journal.parent.mkdir(exist_ok=True, mode=0o700)
        with journal.open("ab") as handle:
            for event, payload in _fixed_failure(session, self.place.project):
                record = {
                    "v": 1, "t": time.time(), "e": event, "ed": "claude-code", "c": 0,
                    "k": self._key, "p": str(self.place.project), "d": payload,
                }  # fmt: skip
                handle.write(b"\n" + json.dumps(record).encode())
        requests = self.place.paths.requests_dir
        requests.mkdir(exist_ok=True, mode=0o700)
        lines = f"reason=session_end\nsession={session}\nproject={self.place.project}\n"
        lines += f"key={self._key}\neditor=claude-code\n"
        (requests / f"{time.time_ns()}-1").write_text(lines)

    def publish_again(self) -> None:
        build_publisher(self.place.config)(str(self.place.project), self._key)

    @property
    def _key(self) -> str:
        from skill_learner.project import project_key

        return project_key(self.place.project)

    def check(self, number: int) -> None:
        self.place.check_foreign()
        library = build_library(self.place.config)
        assert library.problems() == []
        paths = self.place.paths
        with locked(paths.review_lock, timeout=10):
            pass  # a program that the killed review was about to start holds it until its exec
        self.work()  # what the next session's start does
        jobs = JobStore(paths)
        assert jobs.open() == []
        assert not jobs.pending_marker.exists()
        ends = {job.session: job for job in jobs.all()}
        session = self.sessions[-1]
        assert ends[session].status == "done", ends[session]
        assert read_mark(paths, session) == journal_path(paths, session).stat().st_size
        assert unreviewed(paths, self._key) == 0
        (skill,) = library.list(("active", "candidate"))
        told = [change for change in library.history(skill.name) if session in str(change)]
        assert told, f"{session} proved nothing"
        assert len({str(change) for change in told}) == len(told)
        self.place.check_foreign()
        if skill.state == "active":
            link = self.place.project / ".claude" / "skills" / skill.name / "SKILL.md"
            assert link.read_bytes() == Path(skill.path).read_bytes()


class LibraryBed:
    """Skills patched, archived, brought back, undone, indexed and published."""

    name = "skills, index, publish, undo"

    def __init__(self, root: Path) -> None:
        self.review = ReviewBed(root)
        self.place = self.review.place
        self.library = build_library(self.place.config)
        self.publish = build_publisher(self.place.config)
        (self.skill,) = (s.name for s in self.library.list(("active", "candidate")))
        self.library.set_state(self.skill, "active", why="", actor="user")

    def work(self) -> None:
        search = build_search(self.place.config)
        for _ in range(1_000):
            skill = self.library.get(self.skill)
            last = skill.body.rstrip("\n").rpartition("\n")[2]
            new = f"{last[:60]} {time.time_ns()}"
            change = PatchSkill(skill.name, skill.content_hash, last, new, ())
            self.library.patch(change, origin="user", session="s")
            search.search("currency", top_k=3)
            self.publish(str(self.place.project), self.review._key)
            self.library.undo(self.skill)
            self.library.archive(self.skill, why="", actor="user")
            self.publish(str(self.place.project), self.review._key)
            self.library.restore(self.skill)
            self.library.set_state(self.skill, "active", why="", actor="user")

    def strike(self, dice: random.Random, number: int) -> bool:
        return killed(self.work, 0.005 + dice.random() * 0.25)

    def check(self, number: int) -> None:
        self.place.check_foreign()
        assert self.library.problems() == []
        skill = self.library.get(self.skill)
        assert skill.ours
        assert self.library.history(self.skill)[-1].after == skill.content_hash
        if skill.state == "archived":
            self.library.restore(self.skill)
        self.library.set_state(self.skill, "active", why="", actor="user")
        self.publish(str(self.place.project), self.review._key)
        link = self.place.project / ".claude" / "skills" / self.skill / "SKILL.md"
        assert link.read_bytes() == Path(self.library.get(self.skill).path).read_bytes()
        hits = build_search(self.place.config).search("currency missing in settings", top_k=3)
        assert [hit.skill.name for hit in hits] == [self.skill]
        self.place.check_foreign()


__all__ = ["BEDS", "CreateSkill", "HookBed", "InstallBed", "LibraryBed", "ReviewBed", "strike_out"]

BEDS: tuple[type[Any], ...] = (HookBed, InstallBed, ReviewBed, LibraryBed)


def _fixed_failure(session: str, project: Path) -> list[tuple[str, dict[str, Any]]]:
    """A test fails, a file is changed, the test passes."""
    common = {"session_id": session, "cwd": str(project)}
    test, file = {"command": "pytest tests/test_cart.py"}, str(project / "settings.toml")
    error = "FAILED tests/test_cart.py - ValueError: currency code missing in settings.toml"
    edit = {"file_path": file, "old_string": "[shop]", "new_string": '[shop]\ncurrency = "EUR"'}
    calls: list[tuple[str, str, dict[str, str], dict[str, Any]]] = [
        ("PostToolUseFailure", "Bash", test, {"error": f"Exit code 1\n{error}"}),
        ("PostToolUse", "Edit", edit, {"tool_response": {"filePath": file}}),
        ("PostToolUse", "Bash", test, {"tool_response": {"stdout": "1 passed in 0.02s"}}),
    ]
    events: list[tuple[str, dict[str, Any]]] = [
        ("UserPromptSubmit", {**common, "prompt": "make the checkout tests pass"})
    ]
    for number, (event, tool, given, more) in enumerate(calls):
        call = {"tool_name": tool, "tool_input": given, "tool_use_id": f"toolu_{session}_{number}"}
        events.append((event, {**common, **call, **more}))
    return [*events, ("SessionEnd", {**common, "reason": "other"})]


def strike_out(bed: Any, runs: int, seed: int) -> int:
    """Strike and check so often; how many strikes hit. Raises AssertionError at the first loss."""
    dice = random.Random(seed)
    hits = 0
    for number in range(1, runs + 1):
        hits += bed.strike(dice, number)
        try:
            bed.check(number)
        except AssertionError as lost:
            raise AssertionError(f"{bed.name}, run {number}, seed {seed}: {lost}") from lost
    return hits


if sys.platform == "win32":  # pragma: no cover
    raise ImportError("kills need POSIX")
