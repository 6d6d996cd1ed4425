"""Work that is killed (SIGKILL) at its steps and at random moments, and what must be true of what
is left.

Each bed has `strike`, which kills a piece of work (whether it was still at it), and `check`, run on
what is left: it raises AssertionError, and makes good what the next start makes good by itself.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dying import HOOK_PREFIX, killed_at, run_child, steps_of, was_killed
from hook_sandbox import SESSION, HookSandbox

from skill_learner.config import SkillLearnerConfig
from skill_learner.hook_conf import write_hook_conf
from skill_learner.install.installer import install, uninstall
from skill_learner.jobs import JobStore
from skill_learner.journal import journal_path, read_journal
from skill_learner.marks import read_mark
from skill_learner.models import ENOUGH_SESSIONS, CreateSkill, PatchSkill
from skill_learner.pause import pause, resume
from skill_learner.pipeline import PipelineServices, run_jobs
from skill_learner.tally import unreviewed
from skill_learner.targets.claude_code import command_line
from skill_learner.wiring import build_library, build_publisher, build_search, build_services

NOTES = "# Our rules\r\n\r\n- Täbs, not spaces\r\n".encode()
SETTINGS = b'{\n\t"model": "opus",\n\t"hooks": {"Stop": [{"hooks": []}]},\n\t"x": 1.50\n}\n'
_NOBODY = 4_194_305
"""A process id above the highest that Linux gives."""


_SHARE_AT_STEPS = 0.75


class _Steps:
    """The steps of a piece of work in any order, each once before one comes again."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._left: list[int] = []

    def next(self, dice: random.Random) -> int:
        if not self._left:
            self._left = dice.sample(range(1, self._count + 1), self._count)
        return self._left.pop()

    def end_before(self, step: int) -> None:
        self._count = max(1, min(self._count, step - 1))
        self._left = [other for other in self._left if other <= self._count]


def killed(work: Callable[[], None], seconds: float) -> bool:
    """Run `work` in a child and kill it after so long; whether it was still at it."""
    pid = run_child(work)
    time.sleep(seconds)
    os.kill(pid, signal.SIGKILL)
    return was_killed(pid)


class HookBed:
    """Real hook processes: of one session that goes on, and of sessions that end."""

    name = "journal append"

    def __init__(self, root: Path) -> None:
        self.hooks = HookSandbox(root)
        self.hooks.entry.write_text(HOOK_PREFIX + self.hooks.entry.read_text())
        self.kept: list[str] = []
        self.steps = {name: _Steps(60) for name in ("UserPromptSubmit", "Stop", "SessionEnd")}
        self.longest = 0.0
        for number in range(-3, 0):
            began = time.monotonic()
            self._whole("UserPromptSubmit", SESSION, f"first {number}")
            self.longest = max(self.longest, time.monotonic() - began)

    def strike(self, dice: random.Random, number: int) -> bool:
        event = dice.choice(sorted(self.steps))
        session = f"session-{number}" if event == "SessionEnd" else SESSION
        self._whole("UserPromptSubmit", session, f"before {number}")
        at_step = dice.random() < _SHARE_AT_STEPS
        step = self.steps[event].next(dice) if at_step else 0
        process = subprocess.Popen(
            ["/bin/sh", "-c", command_line(event)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=self._environ(session, DIE_AT=str(step)),
            start_new_session=True,
        )
        assert process.stdin is not None
        with process.stdin, contextlib.suppress(BrokenPipeError):
            process.stdin.write(self._payload(event, session, f"cut {number}"))
        if not at_step:
            time.sleep(dice.random() * self.longest * 1.2)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        hit = process.wait() != 0
        if not hit:
            self.kept.append(f"cut {number}")
            if at_step:
                self.steps[event].end_before(step)
        return hit

    def check(self, number: int) -> None:
        """The next session starts; then everything that was told to a whole hook is on record, and
        a review is asked for of each session that has ended or died."""
        ended = f"session-{number}"
        started = f"start-{number}"
        self._whole("SessionStart", started, f"start {number}", source="startup")
        self._whole("Stop", SESSION, f"whole {number}")
        told, records = [], 0
        for journal in (self.hooks.state / "journal").glob("*.jsonl"):
            reading = read_journal(journal)
            records += sum(record.counts for record in reading.records)
            told += [record.text("prompt") for record in reading.records]
        assert all(told), "a torn event was read as one"
        times = Counter(told)
        wrong = [prompt for prompt in self.kept if times[prompt] != 1]
        assert not wrong, f"lost or doubled: {wrong}"
        asked = {request["session"] for request in self.hooks.requests()}
        assert SESSION in asked, "the turn's end asked for no review"
        if (self.hooks.state / "journal" / f"{ended}.jsonl").exists():
            assert ended in asked, "the end was cut off, and nobody asks for its review"
            (self.hooks.state / "marks").mkdir(exist_ok=True)
            (self.hooks.state / "marks" / f"{ended}.json").write_text('{"to": 99999999}')
        left = [path.name for path in self.hooks.state.glob(".request-*")]
        for path in (self.hooks.state / "requests").iterdir():
            path.unlink()
        assert len(left) <= number, left
        assert 0 <= records - self.hooks.tally() <= number, "events are not counted"

    def _whole(self, event: str, session: str, mark: str, **more: str) -> None:
        payload = self._payload(event, session, mark, **more)
        self.hooks.run(event, payload, self._environ(session))
        self.kept.append(mark)

    def _payload(self, event: str, session: str, mark: str, **more: str) -> bytes:
        return self.hooks.payload(event, session_id=session, prompt=mark, pad="x" * 20_000, **more)

    def _environ(self, session: str, **more: str) -> dict[str, str]:
        """The client of the session that goes on lives; of those that end none does."""
        more |= {"CLAUDE_PID": str(os.getpid() if session == SESSION else _NOBODY)}
        more |= {"CLAUDE_CODE_SESSION_ID": session, "SKILL_LEARNER_NUDGE_INTERVAL": "1"}
        return self.hooks.environ(**more)


class _Struck:
    """A bed whose work is killed at one of its steps, or at a random moment."""

    steps: _Steps
    longest = 0.2

    def work(self) -> None:
        raise NotImplementedError

    def measure(self) -> None:
        self.steps = _Steps(steps_of(self.work))

    def strike(self, dice: random.Random, number: int) -> bool:
        if dice.random() < _SHARE_AT_STEPS:
            return killed_at(self.work, self.steps.next(dice))
        began = time.monotonic()
        hit = killed(self.work, dice.random() * self.longest)
        took = time.monotonic() - began
        # a kill that comes too late tells how long the work takes now
        self.longest = self.longest * 1.1 if hit else max(0.01, min(self.longest, took) * 0.9)
        return hit


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
        self.install()
        self.settings_with_hooks = self.settings.read_bytes()
        assert json.loads(self.settings_with_hooks)["hooks"]["Stop"][0] == {"hooks": []}
        assert b'"x": 1.50' in self.settings_with_hooks
        self.uninstall()

    def install(self) -> None:
        install("claude-code", "project", self.project, self.paths)

    def uninstall(self) -> None:
        uninstall("claude-code", "project", self.project, self.paths)

    def check_foreign(self) -> None:
        """Every byte of the user's is there; each file is as before or as we write it."""
        notes = self.notes.read_bytes()
        assert notes.startswith(NOTES), f"the notes lost something: {notes[:80]!r}"
        block = notes.removeprefix(NOTES)
        assert block == b"" or block.rstrip().endswith(b"skill-learner:end -->"), "a cut block"
        settings = self.settings.read_bytes()
        assert settings in (SETTINGS, self.settings_with_hooks), "neither old nor new settings"

    def check_undone(self) -> None:
        self.uninstall()
        assert self.notes.read_bytes() == NOTES
        assert self.settings.read_bytes() == SETTINGS
        left = {str(path.relative_to(self.project)) for path in self.project.rglob("*")}
        left = {name for name in left if not name.startswith(".git/")}
        assert left == {".git", "CLAUDE.md", ".claude", ".claude/settings.json"}, left
        exclude = self.project / ".git" / "info" / "exclude"
        assert b"skill-learner" not in exclude.read_bytes()


class InstallBed(_Struck):
    """init and uninstall, pauses and settings of hooks."""

    name = "settings and notes"

    def __init__(self, root: Path) -> None:
        self.place = _Project(root)
        self.measure()

    def work(self) -> None:
        self.place.install()
        pause(self.place.paths, 4_000_000_000)
        write_hook_conf(self.place.config)
        resume(self.place.paths)
        write_hook_conf(self.place.config)
        self.place.uninstall()

    def check(self, number: int) -> None:
        self.place.check_foreign()
        self.place.install()
        self.place.check_foreign()
        self.place.check_undone()


class ReviewBed(_Struck):
    """Reviews of fresh sessions, published into a project: a skill is made, further sessions prove
    it, and before its evidence has come to an end the next ones teach another."""

    name = "job and review"

    def __init__(self, root: Path) -> None:
        self.place = _Project(root)
        self.place.install()
        self.services: PipelineServices = build_services(self.place.config, None)
        self.sessions: list[str] = []
        for warm_up in (-2, -1, 0):  # the last is like those to come: one more proof of a skill
            self._session(warm_up)
            self.measure()

    def work(self) -> None:
        """What a session's start does with what is queued."""
        run_jobs(self.services, detached=True)

    def strike(self, dice: random.Random, number: int) -> bool:
        self._session(number)
        return super().strike(dice, number)

    def _session(self, number: int) -> None:
        session = f"session-{number}"
        self.sessions.append(session)
        journal = journal_path(self.place.paths, session)
        journal.parent.mkdir(exist_ok=True, mode=0o700)
        with journal.open("ab") as handle:
            for event, payload in _fixed_failure(session, self.place.project, _lesson(number)):
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
        jobs = JobStore(paths)
        cut_off = [job.id for job in jobs.open() if job.status == "running"]
        self.work()
        assert jobs.open() == []
        log = paths.review_log.read_text() if cut_off else ""
        assert all(f"{job}: start 1 was cut off" in log for job in cut_off), "not told"
        assert not jobs.pending_marker.exists()
        ends = {job.session: job for job in jobs.all()}
        session = self.sessions[-1]
        assert session in ends, "the wish for a review is lost"
        assert ends[session].status == "done", ends[session]
        assert read_mark(paths, session) == journal_path(paths, session).stat().st_size
        assert unreviewed(paths, self._key) == 0
        (skill,) = (one for one in library.list() if _lesson(number)[0] in one.body)
        told = [one for one in library.history(skill.name) if one.session == session]
        assert len(told) == 1, f"{session} is told {len(told)} times"
        assert (skill.state == "active") == (len(skill.sessions) > 1)
        self.place.check_foreign()
        links = self.place.project / ".claude" / "skills"
        active = {one.name: Path(one.path) for one in library.list() if one.state == "active"}
        published = [name for name in active if (links / name).exists()]
        assert published or not active, "none of the active skills is published"
        for name in published:
            assert (links / name / "SKILL.md").read_bytes() == active[name].read_bytes()


class LibraryBed(_Struck):
    """Skills patched, archived, brought back, undone, indexed and published."""

    name = "skills, index, publish, undo"

    def __init__(self, root: Path) -> None:
        self.review = ReviewBed(root)
        self.place = self.review.place
        self.library = build_library(self.place.config)
        self.publish = build_publisher(self.place.config)
        (self.skill,) = (s.name for s in self.library.list(("active", "candidate")))
        self.library.set_state(self.skill, "active", why="", actor="user")

        self.measure()

    def work(self) -> None:
        search = build_search(self.place.config)
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
        hits = build_search(self.place.config).search("currency code missing", top_k=3)
        assert [hit.skill.name for hit in hits] == [self.skill]
        self.place.check_foreign()


__all__ = ["BEDS", "CreateSkill", "HookBed", "InstallBed", "LibraryBed", "ReviewBed", "strike_out"]

BEDS: tuple[type[Any], ...] = (HookBed, InstallBed, ReviewBed, LibraryBed)


def _lesson(number: int) -> tuple[str, ...]:
    """The words of what a session with this number teaches. No two lessons have one in common, lest
    the second be taken for the first."""
    lesson = max(number, 0) // (ENOUGH_SESSIONS - 10)
    if not lesson:
        return ("checkout", "Value", "currency", "code", "missing", "settings")
    dice = random.Random(lesson)
    return tuple("".join(dice.choices(_SYLLABLES, k=3)) for _ in range(6))


_SYLLABLES = ("ba", "cemi", "dol", "furu", "gant", "hipe", "jok", "kulva", "lem", "mirzo", "nup")


def _fixed_failure(
    session: str, project: Path, words: tuple[str, ...]
) -> list[tuple[str, dict[str, Any]]]:
    """A test fails, a file is changed, the test passes."""
    tested, kind, what, part, wrong, settings = words
    common = {"session_id": session, "cwd": str(project)}
    test = {"command": f"pytest tests/test_{tested}.py"}
    file = str(project / f"{settings}.toml")
    error = f"FAILED tests/test_{tested}.py - {kind.title()}Error: {what} {part} {wrong}"
    edit = {"file_path": file, "old_string": "[shop]", "new_string": f'[shop]\n{what} = "EUR"'}
    calls: list[tuple[str, str, dict[str, str], dict[str, Any]]] = [
        ("PostToolUseFailure", "Bash", test, {"error": f"Exit code 1\n{error}"}),
        ("PostToolUse", "Edit", edit, {"tool_response": {"filePath": file}}),
        ("PostToolUse", "Bash", test, {"tool_response": {"stdout": "1 passed in 0.02s"}}),
    ]
    events: list[tuple[str, dict[str, Any]]] = [
        ("UserPromptSubmit", {**common, "prompt": f"make the {tested} tests pass"})
    ]
    for number, (event, tool, given, more) in enumerate(calls):
        call = {"tool_name": tool, "tool_input": given, "tool_use_id": f"toolu_{session}_{number}"}
        events.append((event, {**common, **call, **more}))
    return [*events, ("Stop", common), ("SessionEnd", {**common, "reason": "other"})]


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
