"""Doctor's checks of the remotes, by what the last sync left behind; nobody is asked."""

from __future__ import annotations

from collections.abc import Iterator

from skill_learner.cli.finding import FAULT, NOTE, OK, Finding
from skill_learner.cli.output import when
from skill_learner.config import SkillLearnerConfig


def check_remotes(config: SkillLearnerConfig) -> Iterator[Finding]:
    yield from _arrived(config)
    if not config.remotes:
        return
    from skill_learner.remotes.last_syncs import last_syncs

    db = config.library_paths.remotes_db
    for last in last_syncs(db, sorted(config.remotes)):
        check, again = f"remote {last.remote}", f"skill-learner sync {last.remote}"
        if last.error:
            yield Finding(check, NOTE, f"the last sync failed: {last.error}", again)
        for name, why in last.held.items():
            yield Finding(check, NOTE, f"{name} stays at home: {why}", f"skill-learner show {name}")
        for name in last.waiting:
            what = f"of {name} two versions wait for your decision"
            yield Finding(check, NOTE, what, f"{again} --take {name}, or --keep {name}")
        if not (last.error or last.held or last.waiting):
            yield Finding(check, OK, f"last sync {when(last.synced_at)}")


def _arrived(config: SkillLearnerConfig) -> Iterator[Finding]:
    from skill_learner.skills.arrivals import Arrivals

    damage = Arrivals(config.skills_dir / ".history" / "arrived.sqlite").fault()
    if not damage:
        return
    what = f"the store of what arrived in bulk is damaged ({damage}): "
    if config.remotes:
        what += "those skills count as yours"
        todo = "skill-learner sync, which notes them again"
    else:
        what += "of what was imported, earlier versions and history are gone"
        todo = "put it back from a backup if you have one; the skills are whole"
    yield Finding("arrived skills", FAULT, what, todo)
