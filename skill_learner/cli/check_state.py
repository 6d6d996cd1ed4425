"""Doctor's checks of the state folder: whose it is, who may read it, clocks, what kills left."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from skill_learner.cli.finding import FAULT, NOTE, OK, Finding
from skill_learner.cli.output import when
from skill_learner.config import SkillLearnerConfig
from skill_learner.files import DRAFT_SUFFIX
from skill_learner.paths import StatePaths

_DAY = 86_400.0
_HOUR = 3_600.0
_MOST_FILES = 20_000


def check_state(config: SkillLearnerConfig) -> Iterator[Finding]:
    paths = config.paths
    if not paths.root.is_dir():
        yield Finding("state", NOTE, f"{paths.root} is not there yet", "skill-learner init")
        return
    if os.name != "nt":
        yield _permissions(paths)
    yield from _clock(paths)
    yield from _left_behind(paths)
    yield from _put_aside(paths)
    yield from _switches(config)
    yield _log("hook.log", paths.hook_log, "no faults of hooks")
    yield _log("review.log", paths.review_log, "no faults of reviews")


def _permissions(paths: StatePaths) -> Finding:
    if paths.root.stat().st_uid != os.geteuid():
        what = f"{paths.root} is another user's, so hooks record nothing"
        return Finding("permissions", FAULT, what, "set `state_dir` to a folder of your own")
    open_ones = [path for path in _ours(paths) if not path.is_symlink() and _is_open(path)]

    def close() -> str:
        for path in open_ones:
            path.chmod(path.stat().st_mode & ~0o077)
        return f"closed {len(open_ones)} files and folders to others"

    if not open_ones:
        return Finding("permissions", OK, f"{paths.root} is yours alone")
    what = f"others may read {len(open_ones)} files or folders, the first {open_ones[0]}"
    return Finding("permissions", FAULT, what, f"chmod -R go-rwx {paths.root}", close)


def _is_open(path: Path) -> bool:
    with contextlib.suppress(OSError):
        return bool(path.stat().st_mode & 0o077)
    return False


def _ours(paths: StatePaths) -> Iterator[Path]:
    """The folder and what lies in it. Links are not followed; what lies within a folder that is
    closed cannot be reached, whatever its own bits say."""
    yield paths.root
    if not _is_open(paths.root):
        return
    count = 0
    for folder, folders, files in os.walk(paths.root):
        for name in (*folders, *files):
            yield Path(folder, name)
            count += 1
        folders[:] = [name for name in folders if _is_open(Path(folder, name))]
        if count > _MOST_FILES:
            return


def _clock(paths: StatePaths) -> Iterator[Finding]:
    """What was written by a clock that ran ahead is never old enough to go."""
    ahead = []
    for folder in (paths.journal_dir, paths.jobs_dir, paths.requests_dir):
        for path in folder.glob("*"):
            with contextlib.suppress(OSError):
                if path.stat().st_mtime > time.time() + _DAY:
                    ahead.append(path)

    def to_now() -> str:
        for path in ahead:
            os.utime(path)
        return f"{len(ahead)} files were given the time of now"

    if ahead:
        what = f"{len(ahead)} files are of a time to come ({when(ahead[0].stat().st_mtime)})"
        yield Finding("clock", NOTE, what, f"touch {ahead[0]}", to_now)


def _left_behind(paths: StatePaths) -> Iterator[Finding]:
    """Drafts of writes that were cut off by a kill: nobody reads them, nobody removes them."""
    drafts = drafts_in(paths.root)

    def remove() -> str:
        for path in drafts:
            path.unlink(missing_ok=True)
        return f"removed {len(drafts)} drafts"

    if drafts:
        what = f"{len(drafts)} half-written drafts that a kill left, like {drafts[0]}"
        yield Finding("drafts", NOTE, what, "skill-learner doctor --fix", remove)


def drafts_in(root: Path, min_age: float = _HOUR) -> Sequence[Path]:
    """Drafts of `files.atomic_write` and of hooks below a folder that nobody can be writing any
    more."""
    found = []
    for folder, _, names in os.walk(root):  # which follows no links
        for name in names:
            if name.endswith(DRAFT_SUFFIX) or name.startswith(".request-"):
                path = Path(folder, name)
                with contextlib.suppress(OSError):
                    if path.lstat().st_mtime < time.time() - min_age:
                        found.append(path)
    return found


def _put_aside(paths: StatePaths) -> Iterator[Finding]:
    damaged = paths.usage_db.with_name(f"{paths.usage_db.name}.damaged")
    if damaged.exists():
        what = f"{damaged} was no database any more; uses were counted anew from the journals kept"
        yield Finding("usage", NOTE, what, f"rm {damaged}")


def _switches(config: SkillLearnerConfig) -> Iterator[Finding]:
    from skill_learner.pause import FOR_EVER, paused_until

    until = paused_until(config.paths)
    if until:
        lasts = "for ever" if until == FOR_EVER else f"until {when(until)}"
        yield Finding("pause", NOTE, f"paused {lasts}", "skill-learner resume")
    rules = config.privacy
    ignored = len(rules.projects) + len(rules.paths) + len(rules.tools)
    if ignored:
        yield Finding("ignored", NOTE, f"{ignored} projects, paths and tools are never recorded")


def _log(check: str, path: Path, fine: str) -> Finding:
    try:
        modified = path.stat().st_mtime
        last = path.read_text("utf-8", "replace").strip().splitlines()[-1:]
    except OSError:
        return Finding(check, OK, fine)
    if modified < time.time() - 7 * _DAY or not last:
        return Finding(check, OK, f"{fine} in the last week")
    return Finding(check, NOTE, last[0][:200], f"see {path}")
