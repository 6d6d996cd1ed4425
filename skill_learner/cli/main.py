"""The table of commands; a command's module is imported only when it runs."""

from __future__ import annotations

import os
import sys
from io import TextIOWrapper

COMMANDS: dict[str, tuple[str, str]] = {
    "init": ("init", "Install hooks, index and seed skill for an editor."),
    "uninstall": ("uninstall", "Take out what init wrote."),
    "status": ("status", "What is installed, what ran, what is waiting."),
    "list": ("list_skills", "The skills of the library."),
    "show": ("show", "One skill: text, state, history."),
    "search": ("search", "Find skills for a task."),
    "stats": ("stats", "What was learned and what it cost."),
    "candidates": ("candidates", "What waits for proof or for your word."),
    "diff": ("diff", "What a proposal or the last change does to a skill."),
    "approve": ("approve", "Make a candidate active, or apply a proposal."),
    "reject": ("reject", "Archive a skill or turn a proposal down; nothing is deleted."),
    "history": ("history", "What was done to a skill."),
    "undo": ("undo", "Bring back earlier bytes of a skill."),
    "curate": ("curate", "Propose what to merge, retire or split."),
    "pin": ("pin", "Keep a skill whatever `curate` finds."),
    "move": ("move", "Give a skill to this project or to all of the user's."),
    "remember": ("remember", "Note something as a candidate skill."),
    "review": ("review", "Run the queued reviews now."),
    "learn": ("learn", "Review transcript files given by hand."),
    "export": ("export", "Write the library as one JSON document or zip archive."),
    "import": ("import_skills", "Take in skills from exports, archives and folders."),
    "why": ("why", "Follow one session from hook to skill, to where it stopped."),
    "doctor": ("doctor", "Look for what is wrong, and say what to do."),
    "pause": ("pause", "Record nothing for a while."),
    "resume": ("resume", "End a pause."),
    "purge": ("purge", "Take away what was recorded of sessions."),
    "remote": ("remote", "Repositories and databases the library is shared with."),
    "sync": ("sync", "Bring the library and its remotes up to date."),
    "config": ("config", "The settings in force."),
    "consent": ("consent", "What reviews send, to whom, and how to withdraw your leave."),
    "trust": ("trust", "Let a project's settings file set every key, as it is now."),
    "reindex": ("reindex", "Make the search index anew."),
    "project": ("project", "Projects that were moved."),
}
"""Name of a command: its module in this package (with a `command` in it) and one line of help."""


def main() -> None:
    """Entry point of `skill-learner` and `python -m skill_learner`."""
    _open_closed_streams()
    try:
        _answer()
    except OSError as problem:  # help and version are printed before a command is there to tell
        if not isinstance(problem, BrokenPipeError):  # then who read has had enough
            sys.stderr.write(f"error: {problem.strerror or problem}\n")
        sys.exit(1)
    finally:
        _drop_what_cannot_be_written()


def _answer() -> None:
    if sys.argv[1:] in (["--version"], ["-V"]):
        # answered before click is loaded: scripts and editors ask this often
        from skill_learner import __version__

        sys.stdout.write(f"skill-learner {__version__}\n")
        sys.stdout.flush()
        return
    from skill_learner.cli.group import cli

    if isinstance(sys.stdout, TextIOWrapper):  # letters that a terminal's encoding has no sign for
        sys.stdout.reconfigure(errors="backslashreplace")
    cli(prog_name="skill-learner")


def _open_closed_streams() -> None:
    """Where a stream was closed (`>&-`) Python has None: what is written there goes nowhere, and
    the work is done all the same. In this order each gets its own number back, so that no database
    is opened under it."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115


def _drop_what_cannot_be_written() -> None:
    """It would be tried again, and complained of, when the interpreter ends."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
