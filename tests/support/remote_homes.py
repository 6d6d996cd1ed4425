"""Machines that share a library: homes for tests and benches of remotes."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from skill_learner.config import SkillLearnerConfig
from skill_learner.models import CreateSkill, PatchSkill, Skill, SkillState
from skill_learner.remote_wiring import build_sync
from skill_learner.remotes.outcomes import Outcome
from skill_learner.remotes.settings import RemoteSettings
from skill_learner.remotes.sync import Synchroniser, SyncReport
from skill_learner.remotes.sync_state import SyncState
from skill_learner.skills.library import SkillLibrary
from skill_learner.usage import UsageStore

BODY = "# Deploy\n\nFirst step.\n\nSecond step.\n\nThird step.\n"


@dataclass
class Home:
    """One machine: a library, and its syncs with remotes."""

    config: SkillLearnerConfig
    library: SkillLibrary
    settings: RemoteSettings

    def synchroniser(self, **changed: Any) -> Synchroniser:
        return build_sync(self.config, replace(self.settings, **changed))

    def sync(self, *, dry_run: bool = False, **changed: Any) -> SyncReport:
        report = self.synchroniser(**changed).sync(dry_run=dry_run)
        assert report.error == ""
        return report

    def add(
        self, name: str, body: str = BODY, *, state: SkillState = "active", **more: Any
    ) -> Skill:
        draft = CreateSkill(name, more.pop("description", f"Use when {name} fails."), body, ())
        given: dict[str, Any] = {"scope": "user", "origin": "offline", "session": "s-1", **more}
        return self.library.create(draft, state=state, project_slug="p", **given)

    def patch(self, name: str, old: str, new: str) -> Skill:
        skill = self.library.get(name)
        return self.library.patch(
            PatchSkill(name, skill.content_hash, old, new, ()), origin="offline", session="s-2"
        )

    def edit(self, name: str, old: str, new: str) -> None:
        """As a person does, with an editor."""
        path = Path(self.library.get(name).path)
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    def names(self, *states: SkillState) -> list[str]:
        return [skill.name for skill in self.library.list(states or ("active", "candidate"))]

    @property
    def state(self) -> SyncState:
        return SyncState(self.config.paths.remotes_dir / "state.sqlite", self.settings.name)

    def use(self, name: str, session: str) -> None:
        UsageStore(self.config.paths.usage_db).note([name], session, 1.0)


def words(report: SyncReport, direction: str = "in") -> dict[str, str]:
    return {one.name: one.outcome for one in report.outcomes if one.direction == direction}


def outcome(report: SyncReport, name: str) -> Outcome:
    return next(one for one in report.outcomes if one.name == name)


MakeHome = Callable[..., Home]


def home_maker(url: str, folder: Path) -> MakeHome:
    def make(name: str, **settings: Any) -> Home:
        state = folder / name
        config = SkillLearnerConfig(state_dir=state, skills_dir=state / "skills")
        given = {"trust": "all", **settings}
        return Home(config, SkillLibrary(config.skills_dir), RemoteSettings("team", url, **given))

    return make


def both_with_deploy(make_home: MakeHome) -> tuple[Home, Home]:
    """Two homes that share the skill `deploy`, made by the first."""
    one, two = make_home("one"), make_home("two")
    one.add("deploy")
    one.sync()
    two.sync()
    return one, two


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def proposal_branches(repository: Path) -> str:
    """Where machines of ours propose what a protected branch did not take, as git lists it."""
    return git(repository, "branch", "--list", "skill-learner/*").strip()


def empty_repository(folder: Path, *how: str) -> Path:
    """A bare repository without a commit. how: further options of `git init`."""
    folder.mkdir(parents=True)
    git(folder, "init", "--quiet", "--bare", "--initial-branch=main", *how)
    return folder


class KilledHere(BaseException):
    """Stands for a kill: nothing of ours runs after it."""


def killed_at_its_push(home: Home, *, landed: bool, **settings: Any) -> Callable[[], Any]:
    """A sync that ends as by a kill while it pushes. Returns what does its push, now or again: what
    a process that it started does when it goes on alone."""
    syncing = home.synchroniser(**settings)
    push: Callable[..., Any] = syncing._remote.push
    given: list[Any] = []

    def kill(*arguments: Any) -> Any:
        given.extend(arguments)
        if landed:
            push(*arguments)
        raise KilledHere

    syncing._remote.push = kill  # type: ignore[assignment,method-assign]
    with contextlib.suppress(KilledHere):
        syncing.sync()
    return lambda: push(*given) if given else None


_SYNCING = """
import sys
import time
from pathlib import Path
from remote_homes import home_maker
home = home_maker(sys.argv[1], Path(sys.argv[2]))("one")
print("ready", flush=True)
for number in range(200):
    home.sync()
    home.patch("deploy", home.library.get("deploy").body.split("\\n")[2], f"Step {time.time_ns()}.")
"""


def killed_while_syncing(url: str, folder: Path, delay: float, *, git_too: bool = False) -> None:
    """Home `one` changes a skill and syncs, over and over, in a process that is killed.

    git_too: with what it runs, the receiving side of a push included; else that goes on a while.
    """
    here = Path(__file__).resolve().parent
    environment = {
        **os.environ,
        "PYTHONPATH": f"{here}{os.pathsep}{here.parents[1]}",
        _MARK: str(folder),
    }
    process = subprocess.Popen(
        [sys.executable, "-c", _SYNCING, url, str(folder)],
        env=environment,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    time.sleep(delay)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    while git_too and (survivors := started_for(folder)):
        for survivor in survivors:
            with contextlib.suppress(ProcessLookupError):
                os.kill(survivor, signal.SIGKILL)
    process.stdout.close()


_MARK = "SKILL_LEARNER_TEST_HOMES"


def started_for(folder: Path) -> list[int]:
    """Ids of the processes that came of a `killed_while_syncing` of these homes and still run, by
    whatever way; empty where the system does not tell."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if f"{_MARK}={folder}\0".encode() in path.read_bytes():
                found.append(int(path.parent.name))
    return found


_OBJECT_ID = re.compile(r"\b[0-9a-f]{40}(?:[0-9a-f]{24})?\b")
_HARMLESS = ("dangling ", "notice: ")


def unsound(bare: Path) -> list[str]:
    """What `git fsck --strict` has to say against what a ref reaches.

    A push that is still at work, or that was killed, has moved some of its objects in and others
    not: until a ref names them, fsck misses those that the first ones name.
    """
    reached = {
        line.partition(" ")[0] for line in git(bare, "rev-list", "--objects", "--all").splitlines()
    }
    fsck = ["git", "-C", str(bare), "fsck", "--strict"]
    done = subprocess.run(fsck, capture_output=True, text=True, check=False)
    told = [
        line for line in (done.stdout + done.stderr).splitlines() if not line.startswith(_HARMLESS)
    ]
    return [line for line in told if not (ids := set(_OBJECT_ID.findall(line))) or ids & reached]
