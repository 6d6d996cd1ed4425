"""Builds what shares a library with others from a config: syncs, fleets, shared embeddings."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from skill_learner.config import SkillLearnerConfig
from skill_learner.errors import SkillLearnerError

if TYPE_CHECKING:
    from skill_learner.interfaces import EmbeddingProvider
    from skill_learner.remotes.background import BackgroundSync
    from skill_learner.remotes.fleet import Fleet
    from skill_learner.remotes.postgres_connection import PostgresConnection
    from skill_learner.remotes.settings import RemoteSettings
    from skill_learner.remotes.shared_embeddings import SharedEmbeddings
    from skill_learner.remotes.sync import Synchroniser, SyncReport


def build_sync(
    config: SkillLearnerConfig, settings: RemoteSettings, *, aside: Path | None = None
) -> Synchroniser:
    """What syncs the library with one remote; keep it for as long as the process runs.

    aside: a folder for its lock and its copy of the remote, for dry runs where the state folder
    cannot be written; nothing is written elsewhere then.
    """
    from skill_learner.learning.redaction import Redactor, secret_environment_values
    from skill_learner.project import list_projects
    from skill_learner.remotes import open_remote
    from skill_learner.remotes.home_skills import HomeSkills
    from skill_learner.remotes.scope_names import ScopeNames
    from skill_learner.remotes.sync import Place, Synchroniser
    from skill_learner.remotes.sync_state import SyncState
    from skill_learner.skills.intake import SkillIntake
    from skill_learner.usage import UsageStore

    paths, folder = config.library_paths, aside or config.library_paths.remotes_dir
    library, usage = config.skills_dir, UsageStore(paths.usage_db)
    state = SyncState(config.library_paths.remotes_db, settings.name)
    machine = state.machine_as_read if aside else state.machine
    scopes = ScopeNames({p.key: Path(p.path).name for p in list_projects(config.paths)})
    redactor = Redactor(secret_environment_values(os.environ))
    watched = (library, *(library / part for part in (".records", ".archive", ".history")))
    wal = paths.usage_db.with_name(f"{paths.usage_db.name}-wal")
    return Synchroniser(
        settings,
        open_remote(settings, folder, machine),
        HomeSkills(SkillIntake(library), scopes, machine, redactor),
        state,
        Place(folder / f"{settings.name}.lock", (*watched, paths.usage_db, wal)),
        lambda: usage.counts() if paths.usage_db.exists() else {},
    )


@contextlib.contextmanager
def aside_if_read_only(config: SkillLearnerConfig) -> Iterator[Path | None]:
    """For `build_sync`: a folder for the block where the state folder cannot be written, or made;
    else None."""
    import tempfile

    folder = config.library_paths.remotes_dir
    there = next((one for one in (folder, *folder.parents) if one.is_dir()), folder)
    if os.access(there, os.W_OK):
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="skill-learner-", ignore_cleanup_errors=True) as made:
        yield Path(made)


def start_sync(config: SkillLearnerConfig) -> BackgroundSync | None:
    """The sync beside an engine, running. A worker with an empty disk waits for its library, for
    `review_timeout` seconds at most."""
    if not config.remotes:
        return None
    from skill_learner.remotes.background import BackgroundSync
    from skill_learner.remotes.settings import remote_settings
    from skill_learner.skills.library import SkillLibrary

    remotes = remote_settings(config.remotes)
    sync = BackgroundSync(remotes, lambda settings: build_sync(config, settings))
    is_empty = not any(SkillLibrary(config.skills_dir).stamps())
    sync.start(config.review_timeout if is_empty else 0.0)
    return sync


def sync_due(config: SkillLearnerConfig) -> list[SyncReport]:
    """Sync with the remotes whose time has come; what went wrong is noted for `status`. Publishes
    what arrived."""
    from skill_learner.remotes.background import is_due
    from skill_learner.remotes.settings import remote_settings
    from skill_learner.remotes.sync_state import SyncState

    reports = []
    for settings in remote_settings(config.remotes):
        state = SyncState(config.library_paths.remotes_db, settings.name)
        if not is_due(state.note("tried_at"), settings.every, time.time()):
            continue
        state.save_notes({"tried_at": time.time()})
        synchroniser = build_sync(config, settings)
        try:
            reports.append(synchroniser.sync())
        except SkillLearnerError as problem:
            state.save_notes({"error": problem.message})
            reports.append(synchroniser.failed(problem))
        finally:
            synchroniser.close()
    return reports


def note_published(config: SkillLearnerConfig) -> None:
    """Editors are shown what the syncs of every remote made of home."""
    from skill_learner.remotes.settings import remote_settings
    from skill_learner.remotes.sync import UNPUBLISHED
    from skill_learner.remotes.sync_state import SyncState

    for settings in remote_settings(config.remotes):
        state = SyncState(config.library_paths.remotes_db, settings.name)
        state.save_notes({UNPUBLISHED: ""})
        state.close()


def propose_again(config: SkillLearnerConfig, settings: RemoteSettings) -> None:
    """The next sync with a remote proposes what people there declined once more."""
    from skill_learner.remotes import proposals
    from skill_learner.remotes.sync_state import SyncState

    state = SyncState(config.library_paths.remotes_db, settings.name)
    proposals.propose_again(state)
    state.close()


def build_fleet(config: SkillLearnerConfig) -> Fleet | None:
    """What the workers of one PostgreSQL library share; None without a remote of that kind that
    this machine may write to."""
    settings = next((one for one in _databases(config) if one.pushes), None)
    if settings is None:
        return None
    from skill_learner.remotes.fleet import Fleet
    from skill_learner.remotes.fleet_trouble import FleetTrouble

    trouble = FleetTrouble(config.library_paths.remotes_db, settings.name)
    return Fleet(_connection(settings), trouble.machine(), trouble.note)


def shared_embeddings(
    config: SkillLearnerConfig, provider: EmbeddingProvider, identity: str
) -> SharedEmbeddings | None:
    """The provider, behind the vectors that a fleet's database keeps, where there is one."""
    settings = next(iter(_databases(config)), None)
    if settings is None:
        return None
    from skill_learner.remotes.postgres import PostgresRemote
    from skill_learner.remotes.shared_embeddings import SharedEmbeddings

    remote = PostgresRemote(_connection(settings), "")
    return SharedEmbeddings(provider, remote, identity, adds=settings.pushes)


def _databases(config: SkillLearnerConfig) -> list[RemoteSettings]:
    """Those that this machine may write to come first."""
    if not config.remotes:
        return []
    from skill_learner.remotes.settings import remote_settings

    found = [one for one in remote_settings(config.remotes) if one.engine == "postgres"]
    return sorted(found, key=lambda one: not one.pushes)


def _connection(settings: RemoteSettings) -> PostgresConnection:
    """Not yet opened."""
    from skill_learner.remotes.postgres_connection import PostgresConnection

    return PostgresConnection(settings.url, settings.library)
