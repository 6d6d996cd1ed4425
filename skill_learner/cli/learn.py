"""`skill-learner learn PATH...`: review transcript files given by hand."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skill_learner.cli.output import (
    ask,
    counted,
    json_option,
    progress,
    say,
    show_json,
    show_table,
    warn,
)
from skill_learner.cli.settings import load, root_of
from skill_learner.config import SkillLearnerConfig
from skill_learner.errors import JobError, SkillLearnerError
from skill_learner.models import Session

if TYPE_CHECKING:
    from skill_learner.pipeline import JobOutcome, PipelineServices


@dataclass(frozen=True)
class Learned:
    """What became of one file; without an outcome, `error` says why."""

    path: Path
    session: Session | None = None
    outcome: JobOutcome | None = None
    error: str = ""


@click.command()
@click.argument(
    "paths",
    nargs=-1,
    metavar="PATH...",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
)
@click.option(
    "--project-dir",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="File what is learned under this project, instead of the one the transcript names.",
)
@click.option(
    "--recent",
    type=click.IntRange(min=1),
    metavar="N",
    help="The project's last N sessions; says what it would cost, and asks.",
)
@click.option("--yes", is_flag=True, help="Do not ask before --recent.")
@click.option("--provider", metavar="NAME", help="With this provider, whatever the settings say.")
@click.option("--dry-run", is_flag=True, help="Show what would be written, on a copy.")
@json_option
def command(
    paths: tuple[Path, ...],
    project_dir: Path | None,
    recent: int | None,
    provider: str | None,
    as_json: bool,
    **flags: bool,
) -> None:
    """Review transcript files, and say what was found, written and rejected, and why."""
    if bool(paths) == (recent is not None):
        raise click.UsageError("give transcript files, or --recent N")
    config = load(arguments={"provider": provider})
    project = str(root_of(project_dir)) if project_dir else ""
    if recent is not None:
        paths = _recent(config, project_dir or Path(), recent, flags["yes"])
    with _services(config, flags["dry_run"]) as services, progress("learning") as step:
        learned = []
        for path in paths:
            step(str(path))
            learned.append(_learn_one(services, path, project))
        _publish(services, learned)
    if as_json:
        show_json([_data(item) for item in learned])
    else:
        for item in learned:
            _show(item)
        if flags["dry_run"]:
            say("nothing was written (--dry-run)")
    failed = [item for item in learned if item.outcome is None]
    if failed:
        raise JobError(f"{len(failed)} of {len(learned)} files failed: {failed[0].error}")


def _recent(
    config: SkillLearnerConfig, project_dir: Path, count: int, yes: bool
) -> tuple[Path, ...]:
    from skill_learner.cli.recent import estimate, tell
    from skill_learner.transcripts.past import recent_transcripts
    from skill_learner.wiring import reviewer_name

    root, reviewer = root_of(project_dir), reviewer_name(config)
    paths = recent_transcripts(root, count)
    if not paths:
        raise JobError(
            f"no past session of {root} was found",
            "editors keep transcripts below ~/.claude/projects, ~/.cursor/projects, "
            "~/.codex/sessions; give files",
        )
    with progress("estimating") as step:
        found = estimate(config, paths, reviewer, step)
    if not yes:
        tell(found, reviewer, config)
        ask("Learn from them?", "--yes")
    return tuple(paths)


@contextmanager
def _services(config: SkillLearnerConfig, dry_run: bool) -> Iterator[PipelineServices]:
    """The true services; for a dry run those of a copy that goes away, with the true ledger and
    reviewer, since a model that is asked costs what it costs. A fleet hears nothing of it: what is
    learned here is nobody's."""
    from skill_learner.wiring import build_services

    true = build_services(config, None)
    if not dry_run:
        yield true
        return
    with tempfile.TemporaryDirectory(prefix="skill-learner-dry-run-") as folder:
        state = Path(folder)
        if config.skills_dir.is_dir():
            shutil.copytree(config.skills_dir, state / "skills", symlinks=True)
        copy = replace(config, state_dir=state, skills_dir=state / "skills")
        yield replace(
            build_services(copy, None),
            make_reviewer=true.make_reviewer,
            ledger=true.ledger,
            publish=lambda project, key: None,
            fleet=None,
        )


def _learn_one(services: PipelineServices, path: Path, project: str) -> Learned:
    from skill_learner.pipeline import learn_from
    from skill_learner.session_loader import load_session

    try:
        session = load_session(None, path)
        if project:
            session = replace(session, project=project)
        return Learned(path, session, learn_from(services, session))
    except SkillLearnerError as problem:
        return Learned(path, error=problem.message)


def _publish(services: PipelineServices, learned: list[Learned]) -> None:
    """A transcript may come from another machine: only projects that stand here are published."""
    from skill_learner.project import project_key

    changed: set[tuple[str, str]] = set()
    for item in learned:
        if item.session and item.outcome and item.outcome.skills_written:
            project = item.session.project
            if project and Path(project).is_dir():
                changed.add((project, project_key(Path(project))))
            if item.outcome.concerns_all_projects:
                changed.add(("", "user"))
    for project, key in sorted(changed):
        try:
            services.publish(project, key)
        except (SkillLearnerError, OSError) as problem:
            warn(f"{project or key}: not published: {problem}")


def _data(item: Learned) -> dict[str, Any]:
    data: dict[str, Any] = {"path": str(item.path), "error": item.error}
    if item.session is not None and item.outcome is not None:
        data |= {
            "session": item.session.id,
            "project": item.session.project,
            "steps": len(item.session.steps),
            "damaged_lines": item.session.damaged,
            "detail": item.outcome.detail,
            **item.outcome.to_json(),
        }
    return data


def _show(item: Learned) -> None:
    if item.session is None or item.outcome is None:
        say(f"{item.path}: {item.error}")
        return
    outcome = item.outcome
    damaged = f", {item.session.damaged} damaged lines" if item.session.damaged else ""
    say(
        f"{item.path}: {len(item.session.steps)} steps{damaged}, "
        f"{counted(len(outcome.episodes), 'episode')}; {outcome.detail}"
    )
    for episode in outcome.episodes:
        steps = ", ".join(map(str, episode.steps))
        say(f"  {episode.kind} at steps {steps}: {' '.join(episode.trigger.split())[:160]}")
    for failure in outcome.failures:
        say(f"  refused by the library: {failure}")
    if outcome.decisions:
        rows = [
            (
                decision.skill or decision.proposal.name,
                decision.verdict,
                "; ".join(decision.reasons),
            )
            for decision in outcome.decisions
        ]
        show_table(("skill", "verdict", "why"), rows)
    say()
