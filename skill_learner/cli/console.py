"""Everything that uses rich, which costs more to load than all the rest of a small command."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

_READABLE = 16
"""Columns of a terminal in which a text can still be read."""


def table(columns: Sequence[str], rows: Sequence[Sequence[str]], title: str) -> None:
    """The first column stays on one line, unless that would leave the others no room."""
    console = Console()
    view = Table(title=title or None, title_justify="left", header_style="bold")
    own, *others = (_width(column) for column in zip(columns, *rows, strict=True))
    room = console.width - (3 * len(columns) + 1)  # within the frame
    most = max(console.width // 3, room - sum(min(width, _READABLE) for width in others))
    folded = own + sum(others) > room and own > most
    view.add_column(
        columns[0], overflow="fold", no_wrap=not folded, max_width=most if folded else None
    )
    for column in columns[1:]:
        view.add_column(column, overflow="fold")
    for row in rows:
        # Text, never markup: a skill may be called "[red]"
        view.add_row(*(Text(cell) for cell in row))
    console.print(view)


def _width(cells: Sequence[str]) -> int:
    return max(cell_len(line) for cell in cells for line in (cell.splitlines() or [""]))


@contextlib.contextmanager
def spinner(label: str) -> Iterator[Callable[[str], None]]:
    console = Console(stderr=True)
    with console.status(Text(label)) as status:

        def step(text: str) -> None:
            console.print(Text(text, style="dim"))
            status.update(Text(f"{label}: {text}"))

        yield step
