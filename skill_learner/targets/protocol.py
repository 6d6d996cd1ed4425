"""What an editor's module provides. Read by cold code and type checkers; no hook loads it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from skill_learner.events import HookEvent


class Target(Protocol):
    """One editor. An implementation is a module of plain names and functions.

    The hot part (`read_event`, `start_reply`, `own_index`, and the constants they need) runs in
    hook processes: built-in modules only, nothing computed at import.

    NAME: as in `--target`. TITLE: as people call it.
    EVENTS: the editor's names of the events that are registered.
    SETTINGS_FILE: per scope the JSON file `{"hooks": {EVENT: [ENTRY, ...]}}` that holds hooks; its
    keys are the scopes that the editor has. SETTINGS_HEAD: members which that file needs beside
    `hooks`.
    READS_ABOVE: whether a session reads the settings of the folders above its own as well, up to
    the top of the repository; in a linked worktree that has such a folder, the main one's instead.
    INDEX_FILE: per scope the notes that get our block; a scope without one is left out.
    INDEX_IMPORT: the project's file that is wholly ours (see `index_texts`).
    RULES: names for `--rules` and the layout each stands for; empty where there is no choice.
    READS_NOTES: notes of other editors that this one reads as well. NOTES_LIMIT: bytes of its notes
    up to which it reads, 0 for all.
    SKILLS_DIR: skills folder for `project` and `user`. READS_SKILLS: the project's skills folders
    of other editors that this one lists as well (below the home folder the same).
    TWINS: whether the editor may run several of our hooks for one event (see `HookEvent.twin_key`).
    APPROVAL: what the user has to do in the editor before registered hooks run, "" for nothing.
    LISTING_ROOM: characters that the editor's listing of skills has for learned ones, at least.
    LIMITS: what is known not to work, for `doctor`.
    """

    NAME: str
    TITLE: str
    EVENTS: tuple[str, ...]
    SETTINGS_FILE: Mapping[str, str]
    SETTINGS_HEAD: Mapping[str, Any]
    READS_ABOVE: bool
    INDEX_FILE: Mapping[str, str]
    INDEX_IMPORT: str
    RULES: Mapping[str, str]
    READS_NOTES: tuple[str, ...]
    NOTES_LIMIT: int
    SKILLS_DIR: Mapping[str, str]
    READS_SKILLS: tuple[str, ...]
    TWINS: bool
    APPROVAL: str
    LISTING_ROOM: int
    LIMITS: tuple[str, ...]

    # -- hot -----------------------------------------------------------------------------------

    def read_event(
        self, name: str, fields: Mapping[bytes, bytes], environ: Mapping[bytes, bytes]
    ) -> HookEvent:
        """The event behind a payload's top-level `fields`, under its canonical name.

        name: of the event that the line was registered for; the payload knows better.
        """

    def start_reply(self, message: str, reload_skills: bool, index: str = "") -> bytes:
        """What the start of a session prints: news, whether to read the skills anew, and for the
        model the index where the editor has read its notes before we could write it."""

    def context_reply(self, event: str, text: str) -> bytes:
        """What is printed so that the model sees `text` beside a prompt or a tool's result; b"" for
        an editor that cannot."""

    def own_index(self, index: bytes, main: bytes) -> bytes:
        """INDEX_IMPORT's bytes for another worktree. main: that file in the main worktree."""

    # -- reading journals ----------------------------------------------------------------------

    def canonical(self, event: str, payload: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        """A journalled event in the words that all readers understand: Claude Code's.

        A PostToolUse is a success unless its `is_error` is true, or None where the editor does not
        say; `turn_interrupted` marks a Stop by the user. A subagent's event has an `agent_id`, and
        no `transcript_path` but the session's.
        """

    def event_key(self, event: str, payload: Mapping[str, Any]) -> tuple[str, bool]:
        """(what tells this event from others of its session, whether for ever or only for some
        seconds). "" where every record is an event of its own."""

    # -- registration --------------------------------------------------------------------------

    def settings_entry(self, event: str) -> Mapping[str, Any]:
        """What is appended under `hooks.<event>`: byte-stable, free of paths."""

    def windows_entry(self, event: str, launch: list[str]) -> Mapping[str, Any]:
        """The same where there is no sh. launch: see `hook_runtime.launcher.launch_arguments`."""

    def is_our_hook(self, hook: Mapping[str, Any]) -> bool:
        """Whether one hook is ours, of any version."""

    def settings_faults(self, settings: Any) -> list[str]:
        """Why the editor would ignore this settings file, in words. settings: the JSON value."""

    def hooks_not_run(self, settings: str, folder: str) -> list[str]:
        """Why the editor would not run our hooks of the file `settings` in a session started in
        `folder`, as its own program says; [] when that cannot be asked."""

    def index_texts(self, index: str, layout: str) -> tuple[str, str | None]:
        """(body of our block in INDEX_FILE, INDEX_IMPORT's text or None for no such file).

        layout: "block" (the index stands in the block), "file" (in INDEX_IMPORT), else the name of
        another editor's notes, which hold it and which this editor reads.
        """

    def is_own_index(self, data: bytes, index: bytes) -> bool:
        """Whether a file at INDEX_IMPORT's place is as we write it."""
