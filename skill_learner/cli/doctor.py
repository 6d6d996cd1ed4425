"""`skill-learner doctor`: look for what is wrong, and say what to do."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from types import ModuleType

import click

from skill_learner.cli.output import json_option, show_json, show_table
from skill_learner.cli.settings import load, project_dir_option
from skill_learner.config import SkillLearnerConfig
from skill_learner.install.records import InstallRecord

DAY = 86_400.0


@dataclass(frozen=True)
class Finding:
    """result: ok, note (nothing to do, or the user's choice) or fault. todo: the next step."""

    check: str
    result: str
    what: str
    todo: str = ""


@click.command()
@project_dir_option
@json_option
@click.pass_context
def command(ctx: click.Context, project_dir: Path, as_json: bool) -> None:
    """Look for what is wrong, and say what to do. Exit code 1 when there is a fault."""
    config = load(project_dir)
    findings = list(examine(config, project_dir))
    if as_json:
        show_json([asdict(finding) for finding in findings])
    else:
        rows = [(f.check, f.result, f.what, f.todo) for f in findings]
        show_table(("check", "result", "found", "what to do"), rows)
    if any(finding.result == "fault" for finding in findings):
        ctx.exit(1)


def examine(config: SkillLearnerConfig, project_dir: Path) -> Iterator[Finding]:
    """Every check, in the order in which one would look."""
    from skill_learner.install.installer import installed

    yield Finding("python", "ok", f"{sys.executable} ({sys.version.split()[0]})")
    records = installed(config.paths)
    if not records:
        todo = "skill-learner init --target claude-code"
        yield Finding("install", "note", "no editor is set up", todo)
    else:
        yield _launcher(config, records)
    for record in records:
        yield _registration(record)
        yield _fired(config, record)
    yield from _reviews(config)
    yield from _library(config)
    yield _hook_log(config)
    yield _client()
    from skill_learner.cli.status import status_of

    for warning in status_of(config, project_dir)["warnings"] if records else []:
        yield Finding("place", "note", warning)


def _launcher(config: SkillLearnerConfig, records: list[InstallRecord]) -> Finding:
    """hook.sh names an interpreter and an entry script; both can vanish with their environment."""
    file = config.paths.hook_sh
    again = f"skill-learner init --target {records[0].target}"
    try:
        lines = file.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError as problem:
        return Finding("hook.sh", "fault", f"{file}: {problem.strerror}", again)
    named = {line[0]: shlex.split(line[2:]) for line in lines if line[:2] in ("i=", "e=")}
    interpreter, entry = (next(iter(named.get(key, [])), "") for key in ("i", "e"))
    if not os.access(interpreter, os.X_OK):
        return Finding("hook.sh", "fault", f"its Python {interpreter!r} is gone", again)
    if not os.access(entry, os.R_OK):
        return Finding("hook.sh", "fault", f"its script {entry!r} is gone", again)
    return Finding("hook.sh", "ok", f"starts {interpreter}")


def _registration(record: InstallRecord) -> Finding:
    from skill_learner.targets import get_target

    check = f"{record.target}, {record.scope}"
    again = f"skill-learner init --target {record.target}"
    target = get_target(record.target)
    file = next((Path(f.path) for f in record.files if f.kind == "settings"), None)
    if file is None:
        return Finding(check, "fault", "no settings file is on record", again)
    try:
        settings = json.loads(file.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as problem:
        todo = f"make it valid JSON (the editor drops the whole file), then {again}"
        return Finding(check, "fault", f"{file}: {problem}", todo)
    if isinstance(settings, dict) and settings.get("disableAllHooks"):
        return Finding(check, "fault", f"{file}: disableAllHooks is set", "remove that key")
    missing = [event for event in target.EVENTS if not _registered(settings, event, target)]
    if missing:
        return Finding(check, "fault", f"{file}: no hook for {', '.join(missing)}", again)
    return Finding(check, "ok", f"{file}: {len(target.EVENTS)} hooks")


def _registered(settings: object, event: str, target: ModuleType) -> bool:
    """Whether one of ours stands under the event, whatever else stands there."""
    hooks = settings.get("hooks") if isinstance(settings, dict) else None
    groups = hooks.get(event) if isinstance(hooks, dict) else None
    for group in groups if isinstance(groups, list) else []:
        entries = group.get("hooks") if isinstance(group, dict) else None
        for entry in entries if isinstance(entries, list) else []:
            if isinstance(entry, dict) and target.is_our_hook(entry):
                return True
    return False


def _fired(config: SkillLearnerConfig, record: InstallRecord) -> Finding:
    from skill_learner.cli.output import when
    from skill_learner.cli.settings import key_of
    from skill_learner.cli.status import last_fired

    check = f"{record.target}, {record.scope}: events"
    key = None if record.scope == "user" else key_of(Path(record.root))
    fired = last_fired(config, key)
    if fired:
        return Finding(check, "ok", f"last one {when(fired)}")
    if config.off:
        return Finding(check, "note", f"switched off by {config.origins['off']}")
    todo = f"work in {record.root} with the editor; a session that runs already needs a restart"
    return Finding(check, "note", f"none since {when(record.at)}", todo)


def _reviews(config: SkillLearnerConfig) -> Iterator[Finding]:
    from skill_learner.jobs import JobStore
    from skill_learner.ledger import Ledger
    from skill_learner.wiring import reviewer_name

    jobs = JobStore(config.paths).all() if config.paths.jobs_dir.exists() else []
    recent = [job for job in jobs if job.updated > time.time() - DAY]
    failed = [job for job in recent if job.status in ("failed", "abandoned")]
    if failed:
        what = f"{len(failed)} of {len(recent)} failed in 24 h; the last: {failed[-1].detail}"
        yield Finding("reviews", "fault", what, f"see {config.paths.review_log}")
    else:
        yield Finding("reviews", "ok", f"{len(recent)} in 24 h, none failed")
    waiting = [job for job in jobs if job.status == "queued"]
    if waiting:
        oldest = waiting[0].detail or "they run at the next session's start"
        yield Finding("queue", "note", f"{len(waiting)} wait: {oldest}", "skill-learner review")
    yield Finding("reviewer", "ok", reviewer_name(config))
    spend = Ledger(config.paths.ledger).today()
    reached = spend.reviews >= config.daily_reviews or spend.tokens >= config.daily_tokens
    what = (
        f"{spend.reviews} of {config.daily_reviews} reviews, "
        f"{spend.tokens} of {config.daily_tokens} tokens today"
    )
    yield Finding("ceilings", "note" if reached else "ok", what)


def _library(config: SkillLearnerConfig) -> Iterator[Finding]:
    from skill_learner.wiring import build_library

    library = build_library(config)
    problems = library.problems()
    for problem in problems:
        yield Finding("library", "fault", problem.message, problem.hint)
    if not problems:
        yield Finding("library", "ok", f"{len(library.list())} skills in {config.skills_dir}")


def _hook_log(config: SkillLearnerConfig) -> Finding:
    try:
        modified = config.paths.hook_log.stat().st_mtime
        last = config.paths.hook_log.read_text("utf-8", "replace").strip().splitlines()[-1:]
    except OSError:
        return Finding("hook.log", "ok", "no faults of hooks")
    if modified < time.time() - 7 * DAY or not last:
        return Finding("hook.log", "ok", "no faults of hooks in the last week")
    return Finding("hook.log", "note", last[0][:200], f"see {config.paths.hook_log}")


def _client() -> Finding:
    found = shutil.which("claude")
    if found:
        return Finding("claude", "ok", found)
    return Finding("claude", "note", "not on PATH", "only the claude-cli reviewer needs it")
