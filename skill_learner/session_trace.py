"""Follows one session from the hook to the skill, and names the station where it stopped."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from skill_learner import tally
from skill_learner.errors import JobError, SkillLearnerError
from skill_learner.job import Job
from skill_learner.jobs import JobStore
from skill_learner.journal import JournalReading, journal_files, read_journal
from skill_learner.learning.episodes import find_episodes
from skill_learner.marks import read_mark_of
from skill_learner.models import Skill
from skill_learner.paths import StatePaths, safe_file_name
from skill_learner.session_loader import load_session

Result = Literal["ok", "stopped", "note"]


@dataclass(frozen=True)
class Station:
    """One step on the way. stopped: the session came no further; `change` says what would help."""

    step: str
    result: Result
    what: str
    change: str = ""


@dataclass(frozen=True)
class Surroundings:
    """What the trace has to be told. keys: the project's key and those it had before; empty for any
    project. obstacles: what keeps hooks from recording. get_skill raises LibraryError."""

    paths: StatePaths
    keys: frozenset[str]
    nudge_interval: int
    obstacles: Sequence[str]
    get_skill: Callable[[str], Skill]
    skills_dirs: Sequence[Path]


def find_session(around: Surroundings, asked: str) -> Path | None:
    """The journal of a session: by id, by an unambiguous beginning of it, or the project's "last".
    None when nothing was recorded at all. Raises JobError for an id that is not known."""
    journals = journal_files(around.paths)
    if asked == "last":
        for path in reversed(journals):
            if not around.keys or around.keys & _keys(path):
                return path
        return None
    wanted = safe_file_name(asked)
    found = [path for path in journals if path.stem.startswith(wanted)]
    exact = [path for path in found if path.stem == wanted]
    if exact or len(found) == 1:
        return (exact or found)[0]
    if found:
        names = ", ".join(path.stem for path in found[:5])
        raise JobError(f"{asked!r} begins several sessions: {names}", "give more of the id")
    if any(job.session == asked for job in JobStore(around.paths).all()):
        return around.paths.journal_dir / f"{wanted}.jsonl"
    raise JobError(
        f"no session {asked!r} was recorded",
        "its hooks did not fire, or it is older than `journal_days`: see `skill-learner doctor`",
    )


def trace(around: Surroundings, journal: Path | None) -> list[Station]:
    """The stations up to the one where it stopped."""
    passed = []
    for station in _stations(around, journal):
        passed.append(station)
        if station.result == "stopped":
            break
    return passed


def _stations(around: Surroundings, journal: Path | None) -> Iterator[Station]:
    if journal is None:
        why = "; ".join(around.obstacles) or "no session of this project has run since init"
        yield Station("hook", "stopped", f"nothing was recorded: {why}", "skill-learner doctor")
        return
    reading = read_journal(journal)
    yield from _recorded(around, journal, reading)
    job = job_of(around.paths, journal)
    yield from _trigger(around, journal, reading, job)
    if job is None:
        return
    yield _review(job)
    yield from _found(job)
    yield from _judged(job)
    yield from _written(around, job)


def _recorded(around: Surroundings, journal: Path, reading: JournalReading) -> Iterator[Station]:
    if not reading.records:
        yield Station("journal", "note", f"{journal} is gone or holds no event")
        return
    last = reading.records[-1]
    yield Station("hook", "ok", f"{last.editor} fired, at last {last.event}")
    for obstacle in around.obstacles:
        yield Station("hook", "note", f"now: {obstacle}")
    details = [f"{len(reading.records)} events in {journal}"]
    cut = sum(record.cut for record in reading.records)
    if cut:
        details.append(f"{cut} cut at payload_cap")
    if reading.damaged:
        details.append(f"{reading.damaged} damaged")
    yield Station("journal", "ok", ", ".join(details))


def _trigger(
    around: Surroundings, journal: Path, reading: JournalReading, job: Job | None
) -> Iterator[Station]:
    mark = read_mark_of(around.paths, journal)
    fresh = [record for record in reading.records if record.end > mark]
    counted = sum(record.counts for record in fresh)
    session = _session_id(journal, reading)
    again = f"skill-learner review --session {session}"
    if job is not None:
        yield Station("trigger", "ok", f"asked for by {_REASONS.get(job.reason, job.reason)}")
        if counted and not job.is_open:
            yield Station("trigger", "note", f"{counted} calls and turns since then", again)
        return
    if not counted and not mark:
        what = "no tool call and no prompt, so there is nothing to review"
        yield Station("trigger", "stopped", what, "work in the session")
        return
    if mark and not counted:
        yield Station("trigger", "stopped", "reviewed; the review is no longer on record", again)
        return
    if _is_requested(around.paths, session):
        what = "a review is asked for and has not begun"
        yield Station("trigger", "stopped", what, "skill-learner review, or the next session")
        return
    key = fresh[-1].project_key
    total = max(counted, tally.unreviewed(around.paths, key))
    ended = fresh[-1].event == "SessionEnd"
    what = (
        "the session ended, and the hook asked for no review"
        if ended
        else f"{total} of {around.nudge_interval} calls and turns in the project, no end yet"
    )
    yield Station("trigger", "stopped", f"{what}; {_would_find(journal)}", again)


_REASONS = {
    "nudge": "the count of calls and turns (nudge_interval)",
    "session_end": "the session's end",
    "recover": "a later start, since the session got no end",
    "manual": "you",
}


def _would_find(journal: Path) -> str:
    try:
        found = find_episodes(load_session(journal))
    except SkillLearnerError as error:
        return f"a review could not read it: {error.message}"
    kinds = ", ".join(sorted({item.kind.replace("_", " ") for item in found}))
    return (
        f"a review now would look at: {kinds}"
        if found
        else ("a review now would find nothing non-obvious")
    )


def _review(job: Job) -> Station:
    again = f"skill-learner review --session {job.session}"
    if job.status == "queued":
        return Station("review", "stopped", job.detail or "waits", "skill-learner review")
    if job.status == "running":
        return Station("review", "stopped", "runs now", "wait for its end")
    if job.status in ("failed", "abandoned"):
        what = f"{job.status}: {job.detail}"
        return Station("review", "stopped", what, f"mend that, then {again}")
    return Station("review", "ok", job.detail)


def _found(job: Job) -> Iterator[Station]:
    result = job.result
    episodes = _list(result, "episodes")
    kinds = ", ".join(str(item.get("kind", "")).replace("_", " ") for item in episodes)
    reviewer = str(result.get("reviewer", ""))
    if not reviewer:
        yield Station(
            "signal",
            "stopped",
            job.detail or "nothing non-obvious",
            '`review_when: always` reviews without a signal; `skill-learner remember "..."` notes '
            "something by hand",
        )
        return
    yield Station("signal", "ok", f"found: {kinds}" if kinds else "none needed")
    calls = _list(result, "calls")
    dropped = [str(item) for item in result.get("dropped", ())]
    what = f"{reviewer}, {len(calls)} calls" if calls else reviewer
    if dropped:
        what += f"; left out as unusable: {'; '.join(dropped)}"
    if not _list(result, "decisions"):
        because = result.get("nothing_because") or "it proposed nothing"
        change = "another `provider`, or `skill-learner remember`"
        yield Station("reviewer", "stopped", f"{what}: {because}", change)
        return
    yield Station("reviewer", "ok", what)


def _judged(job: Job) -> Iterator[Station]:
    decisions = _list(job.result, "decisions")
    for item in decisions:
        name = item.get("skill") or item.get("name")
        reasons = "; ".join(str(reason) for reason in item.get("reasons", ()))
        refused = item.get("verdict") == "reject"
        yield Station("gate", "note" if refused else "ok", f"{name}: {item['verdict']}: {reasons}")
    failures = [str(item) for item in job.result.get("failures", ())]
    for failure in failures:
        yield Station("library", "note", f"refused: {failure}")
    if decisions and not _list(job.result, "skills"):
        change = "prove it in a further session, or write it with `skill-learner remember`"
        yield Station("gate", "stopped", "no proposal passed", change)


def _written(around: Surroundings, job: Job) -> Iterator[Station]:
    waiting = []
    for item in _list(job.result, "skills"):
        name = str(item.get("name", ""))
        try:
            skill = around.get_skill(name)
        except SkillLearnerError as error:
            yield Station("file", "note", error.message)
            continue
        yield Station("file", "ok", f"{skill.path}: {skill.state}")
        if skill.state != "active":
            waiting.append((name, skill.state))
            continue
        yield _listed(around, job, skill)
    for name, state in waiting:
        change = (
            f"a further session that proves it, or `skill-learner approve {name}`"
            if state == "candidate"
            else f"skill-learner approve {name}"
        )
        yield Station("listing", "stopped", f"{name} is {state}: only active skills show", change)


def _listed(around: Surroundings, job: Job, skill: Skill) -> Station:
    name = skill.name
    links = [folder / name for folder in around.skills_dirs]
    there = [link for link in links if (link / "SKILL.md").is_file()]
    if there:
        return Station("listing", "ok", f"{there[0]}, read by sessions that start from now on")
    taken = [link for link in links if os.path.lexists(link)]
    if taken:
        what = f"{taken[0]} is something else, so {name} was not put there"
        return Station("listing", "stopped", what, "rename one of the two")
    published = around.paths.published_dir / job.project_key
    what = f"{name} is in no skills folder of {job.project or 'the project'}"
    if not published.exists():
        what += ", which was never published"
    return Station("listing", "stopped", what, "skill-learner init in that project")


def job_of(paths: StatePaths, journal: Path) -> Job | None:
    """The session's newest job."""
    if not paths.jobs_dir.is_dir():
        return None
    jobs = [job for job in JobStore(paths).all() if safe_file_name(job.session) == journal.stem]
    return jobs[-1] if jobs else None


def _is_requested(paths: StatePaths, session: str) -> bool:
    for path in paths.requests_dir.glob("*"):
        try:
            if f"session={session}" in path.read_text("utf-8", "replace").splitlines():
                return True
        except OSError:
            continue
    return False


def _session_id(journal: Path, reading: JournalReading) -> str:
    named = (record.text("session_id") for record in reading.records)
    return next((name for name in named if name), journal.stem)


def _keys(journal: Path) -> set[str]:
    return {record.project_key for record in read_journal(journal).records}


def _list(result: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    found = result.get(key, ())
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []
