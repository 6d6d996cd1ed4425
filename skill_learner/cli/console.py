"""Everything that uses rich, which costs more to load than all the rest of a small command."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text


def table(columns: Sequence[str], rows: Sequence[Sequence[str]], title: str) -> None:
    view = Table(title=title or None, title_justify="left", header_style="bold")
    for index, column in enumerate(columns):
        view.add_column(column, overflow="fold", no_wrap=index == 0)
    for row in rows:
        # Text, never markup: a skill may be called "[red]"
        view.add_row(*(Text(cell) for cell in row))
    Console().print(view)


@contextlib.contextmanager
def spinner(label: str) -> Iterator[Callable[[str], None]]:
    console = Console(stderr=True)
    with console.status(Text(label)) as status:

        def step(text: str) -> None:
            console.print(Text(text, style="dim"))
            status.update(Text(f"{label}: {text}"))

        yield step
