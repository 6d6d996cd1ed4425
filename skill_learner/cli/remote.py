"""`skill-learner remote`: the repositories and databases that the library is shared with."""

from __future__ import annotations

import os
import shutil
from typing import Any

import click

from skill_learner.cli.output import json_option, say, show_json, show_table, when
from skill_learner.cli.settings import load
from skill_learner.config import SkillLearnerConfig, user_settings_file
from skill_learner.config_file import read_settings_file
from skill_learner.errors import ConfigError
from skill_learner.remotes.settings import (
    DEFAULT_EVERY,
    DIRECTIONS,
    TRUSTS,
    RemoteSettings,
    as_mapping,
    checked_url,
    remote_settings,
    settings_of,
)


@click.group()
def command() -> None:
    """Share the library with a git repository or a PostgreSQL database."""


@command.command("add")
@click.argument("name")
@click.argument("url")
@click.option("--direction", type=click.Choice(DIRECTIONS), default="both", show_default=True)
@click.option(
    "--trust",
    type=click.Choice(TRUSTS),
    default="reviewed",
    show_default=True,
    help="What arrives active: all, what a person approved, or none.",
)
@click.option("--scope", multiple=True, metavar="NAME", help="`user` or a project's folder name.")
@click.option("--tag", multiple=True, metavar="WORD", help="Only skills with this tag.")
@click.option("--every", type=int, default=DEFAULT_EVERY, show_default=True, metavar="SECONDS")
@click.option("--branch", default="main", show_default=True, help="git only.")
@click.option("--library", default="default", show_default=True, help="PostgreSQL only.")
def add(name: str, url: str, scope: tuple[str, ...], tag: tuple[str, ...], **given: Any) -> None:
    """Add a remote: git+ssh://…, https://…, a path, or postgresql://… (without a password)."""
    load()
    entry = {"url": _as_kept(name, url), "scope": list(scope), "tags": list(tag), **given}
    settings = remote_settings({name: entry})[0]
    _rewrite(name, settings)
    say(f"{name}: added to {user_settings_file()}; `skill-learner sync {name}` syncs it now")


@command.command("list")
@json_option
def list_remotes(as_json: bool) -> None:
    """The remotes, when they last synced, and what needs you."""
    config = load()
    rows = [remote_status(config, settings) for settings in remote_settings(config.remotes)]
    if as_json:
        show_json(rows)
        return
    if not rows:
        say("no remote; `skill-learner remote add NAME URL` adds one")
        return
    show_table(
        ("remote", "address", "direction", "trust", "last sync", "held back", "waiting", "note"),
        [
            (
                row["name"],
                row["url"],
                row["direction"],
                row["trust"],
                when(row["synced_at"]),
                len(row["held"]),
                len(row["waiting"]),
                row["error"] or row["proposed"],
            )
            for row in rows
        ],
    )


@command.command("remove")
@click.argument("name")
def remove(name: str) -> None:
    """Forget a remote. The library, and what lies at the remote, stay as they are."""
    from skill_learner.remotes.sync_state import SyncState

    config = load()
    settings_of(config.remotes, name)
    _rewrite(name, None)
    folder = config.library_paths.remotes_dir
    if folder.is_dir():
        state = SyncState(config.library_paths.remotes_db, name)
        state.forget()
        state.close()
        shutil.rmtree(folder / f"{name}.git", ignore_errors=True)
    say(f"{name}: removed; the skills that came from it stay")


def remote_status(config: SkillLearnerConfig, settings: RemoteSettings) -> dict[str, Any]:
    """What is known of a remote without asking it."""
    from skill_learner.remotes.last_syncs import last_syncs

    (last,) = last_syncs(config.library_paths.remotes_db, [settings.name])
    return {
        "name": settings.name,
        "url": settings.url,
        "direction": settings.direction,
        "trust": settings.trust,
        "synced_at": last.synced_at,
        "error": last.error,
        "proposed": last.proposed,
        "held": [f"{name}: {why}" for name, why in last.held.items()],
        "refused": [f"{name}: {why}" for name, why in last.refused.items()],
        "waiting": list(last.waiting),
        "uses": dict(last.uses),
    }


def _as_kept(name: str, url: str) -> str:
    """An address that means the same in every folder."""
    from skill_learner.remotes.git_address import is_path

    given = checked_url(url, f"remotes: {name}")
    is_here = os.path.isdir(given)
    if not is_here and (given.startswith("file://") or not is_path(given)):
        return given
    path = os.path.expanduser(given)
    if path.startswith("~") and not is_here:
        raise ConfigError(
            f"remotes: {name}: nobody here has the folder {path.partition('/')[0]!r}",
            "write the whole path, or ./ in front of it where that is its name",
        )
    return os.path.realpath(path)


def _rewrite(name: str, settings: RemoteSettings | None) -> None:
    """Change the user's settings file, if reading it back gives exactly what was meant."""
    from skill_learner.files import atomic_write, ensure_private_dir, naming
    from skill_learner.remotes.settings_text import with_remote, without_remote

    file = user_settings_file()
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    before = read_settings_file(file) if file.exists() else {}
    remotes = dict(before.get("remotes") or {})
    remotes.pop(name, None)
    if settings is not None:
        remotes[name] = as_mapping(settings)
        text = with_remote(text, name, as_mapping(settings))
    else:
        text = without_remote(text, name)
    ensure_private_dir(file.parent)
    draft = file.with_name(f".{file.name}.draft")
    with naming(file):
        atomic_write(draft, text.encode(), 0o600)
    try:
        after = read_settings_file(draft)
    finally:
        draft.unlink()
    if {**after, "remotes": after.get("remotes") or {}} != {**before, "remotes": remotes}:
        raise ConfigError(
            f"{file}: `remotes:` is written in a way that is not edited",
            "Write the remote into it by hand; nothing was changed.",
        )
    atomic_write(file, text.encode())
