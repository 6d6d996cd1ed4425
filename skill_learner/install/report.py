"""What an install or uninstall did, for the command line to show."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class InstallReport:
    """rows: (path, what happened to it), in the order of the work. notes: sentences the user
    should read. dry_run: nothing was written; the rows say what would be."""

    rows: tuple[tuple[str, str], ...]
    notes: tuple[str, ...] = ()
    dry_run: bool = False
