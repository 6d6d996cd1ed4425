"""Doctor's checks of the editors: what is registered, whether it fires, and how fast."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from skill_learner.cli.finding import FAULT, NOTE, OK, Finding
from skill_learner.cli.output import when
from skill_learner.config import SkillLearnerConfig
from skill_learner.install.status import ScopeStatus

_TRIED = {
    "claude": ((2, 1, 197), (2, 1, 332), "claude update"),
    "codex": ((0, 171, 0), (0, 171, 0), "npm install -g @openai/codex"),
}
"""Oldest and newest version of a client that the hooks were run with, and what updates it."""
_SLOW = 0.25
_RUNS = 5
_PATIENCE = 10


def check_installs(config: SkillLearnerConfig, project_dir: Path) -> Iterator[Finding]:
    """Every install that concerns this folder."""
    from skill_learner.cli.installs import install_warnings, installs_here
    from skill_learner.targets import get_target

    found = installs_here(config, project_dir)
    for status in found:
        yield _registration(config, status)
        yield _fired(config, status)
    told = {p for status in found for p in (*status.problems, *status.not_run)}
    for warning in install_warnings(config, project_dir):
        if not any(problem in warning for problem in told):
            yield Finding("place", NOTE, warning)
    for name in sorted({status.target for status in found if status.installed}):
        for limit in get_target(name).LIMITS:
            yield Finding(f"{name}: limits", NOTE, limit)
    if any(status.installed and status.launcher_alive for status in found):
        yield _speed(found)


def check_register(config: SkillLearnerConfig) -> Iterator[Finding]:
    """Installs elsewhere whose folder is gone."""
    from skill_learner.install.installer import installed

    for record in installed(config.paths):
        if record.scope != "user" and not Path(record.root).is_dir():
            what = f"{record.target} was set up in {record.root}, which is gone"
            todo = f"skill-learner project relink {record.root} NEW, or uninstall --gone"
            yield Finding("register", NOTE, what, todo)


def check_clients() -> Iterator[Finding]:
    """The editors' programs, and whether this version of theirs is one we know."""
    for program, (oldest, newest, update) in _TRIED.items():
        found = shutil.which(program)
        if found:
            yield _version(program, found, oldest, newest, update)
        elif program == "claude":
            yield Finding(program, NOTE, "not on PATH", "only the claude-cli reviewer needs it")


def _version(
    program: str, found: str, oldest: tuple[int, ...], newest: tuple[int, ...], update: str
) -> Finding:
    version = _version_of(found)
    if not version:
        return Finding(program, NOTE, f"{found} does not tell its version", update)
    text = ".".join(map(str, version))
    if version < oldest:
        what = f"{found} is {text}; hooks were tried from {'.'.join(map(str, oldest))} on"
        return Finding(program, NOTE, what, update)
    if version > newest:
        tried = ".".join(map(str, newest))
        return Finding(program, OK, f"{found} {text}; newer than what was tried ({tried})")
    return Finding(program, OK, f"{found} {text}: hooks, index and skills work")


def _registration(config: SkillLearnerConfig, status: ScopeStatus) -> Finding:
    from skill_learner.targets import get_target

    check = f"{status.target}, {status.scope}"
    scope = {"user": " --user", "local": " --local"}.get(status.scope, "")
    place = "" if status.scope == "user" else f" --project-dir {status.root}"
    again = f"skill-learner init --target {status.target}{scope}{place}"

    def install_again() -> str:
        from skill_learner.install.installer import install

        install(status.target, status.scope, Path(status.root), config.paths)
        return f"installed again in {status.root}"

    if status.problems:
        mendable = status.installed and status.on_record
        fix = install_again if mendable else None
        return Finding(check, FAULT, "; ".join(status.problems), again, fix)
    if status.not_run:
        return Finding(check, FAULT, "; ".join(status.not_run), get_target(status.target).APPROVAL)
    if status.disabled_by:
        what = f"all hooks are switched off by {', '.join(status.disabled_by)}"
        return Finding(check, FAULT, what, "take `disableAllHooks` out there")
    if not status.installed:
        return Finding(check, FAULT, f"its hooks are gone from {status.root}", again)
    if not status.complete:
        what = f"hooks are there, index or skill is missing: only {', '.join(status.files)}"
        return Finding(check, FAULT, what, again, install_again)
    starts = f", started by {status.launcher.interpreter}" if status.launcher else ""
    return Finding(check, OK, f"complete in {status.root}{starts}")


def _fired(config: SkillLearnerConfig, status: ScopeStatus) -> Finding:
    check = f"{status.target}, {status.scope}: events"
    if status.last_fired:
        return Finding(check, OK, f"last one {when(status.last_fired)}")
    if config.off:
        return Finding(check, NOTE, f"switched off by {config.origins['off']}")
    since = _installed_at(config, status)
    ran = _sessions_since(status, since) if since else 0
    if ran:
        what = f"none, though {ran} sessions ran here since init"
        todo = "restart the editor in this folder; its `/hooks` shows what it has read"
        return Finding(check, FAULT, what, todo)
    todo = f"work in {status.root} with the editor; a session that runs already needs a restart"
    return Finding(check, NOTE, "none yet", todo)


def _installed_at(config: SkillLearnerConfig, status: ScopeStatus) -> float:
    from skill_learner.install.records import load

    record = load(config.paths, status.target, status.scope, Path(status.root))
    return record.at if record else 0.0


def _sessions_since(status: ScopeStatus, since: float) -> int:
    """Sessions that began in this folder after that moment, by their transcripts."""
    from skill_learner.transcripts.past import claude_transcripts, codex_transcripts

    known = {"claude-code": claude_transcripts, "codex": codex_transcripts}
    if status.target not in known or status.scope == "user":
        return 0
    return sum(1 for _ in known[status.target](Path(status.root), below=False, since=since))


def _speed(found: list[ScopeStatus]) -> Finding:
    launcher = next(status.launcher for status in found if status.launcher)
    seconds = hook_seconds(launcher.interpreter, launcher.entry)
    if seconds is None:
        what = "a hook that was tried wrote nothing"
        return Finding("hook", FAULT, what, "skill-learner init, then doctor again")
    what = f"one event takes {seconds * 1000:.0f} ms"
    if seconds > _SLOW:
        todo = "a slow disk or a busy machine? an interpreter on a local disk helps"
        return Finding("hook", NOTE, what, todo)
    return Finding("hook", OK, what)


def hook_seconds(interpreter: str, entry: str) -> float | None:
    """The least time that a real hook takes, tried in a state folder of its own; None when it does
    not record what it was given."""
    from skill_learner.install.launcher_file import package_root

    payload = json.dumps({"session_id": "doctor", "tool_name": "Bash", "tool_input": {}}).encode()
    times = []
    with tempfile.TemporaryDirectory(prefix="skill-learner-doctor-") as folder:
        state = Path(folder) / "state"
        state.mkdir(mode=0o700)
        program = [interpreter, "-I", "-S", entry, str(package_root()), str(state)]
        environ = {"PATH": os.environ.get("PATH", ""), "CLAUDE_PROJECT_DIR": folder}
        if "SYSTEMROOT" in os.environ:  # without it no Python starts on Windows
            environ["SYSTEMROOT"] = os.environ["SYSTEMROOT"]
        for _ in range(_RUNS):
            began = time.perf_counter()
            try:
                subprocess.run(
                    [*program, "claude-code", "PostToolUse"],
                    input=payload,
                    env=environ,
                    capture_output=True,
                    timeout=_PATIENCE,
                    check=False,
                )
            except (OSError, subprocess.TimeoutExpired):
                return None
            times.append(time.perf_counter() - began)
        written = state / "journal" / "doctor.jsonl"
        lines = written.read_bytes().count(b"\n") if written.exists() else 0
    if lines != _RUNS:
        return None
    return min(times)


def _version_of(program: str) -> tuple[int, ...]:
    environ = {**os.environ, "SKILL_LEARNER_REVIEW": "1", "DISABLE_AUTOUPDATER": "1"}
    try:
        done = subprocess.run(
            [program, "--version"],
            env=environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ()
    numbers = re.search(rb"(\d+)\.(\d+)\.(\d+)", done.stdout)
    return tuple(int(number) for number in numbers.groups()) if numbers else ()
