"""What commands print: tables in a terminal, plain text in a pipe, JSON on request.

Texts come from sessions and repositories, so control characters never reach the terminal.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import click

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")

_STEERING = frozenset(range(0x202A, 0x202F)) | frozenset(range(0x2066, 0x206A))
"""Bidirectional overrides: they can make a line read as something else."""


def printable(text: str) -> str:
    """`text` without control characters (newline and tab stay) and without lone surrogates."""
    if text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return "".join(
        character
        if character in "\n\t"
        or (unicodedata.category(character) not in ("Cc", "Cs") and ord(character) not in _STEERING)
        else "�"
        for character in text
    )


def is_terminal() -> bool:
    return sys.stdout.isatty()


def say(text: str = "") -> None:
    click.echo(printable(text))


def warn(text: str) -> None:
    click.echo(f"warning: {printable(text)}", err=True)


def show_json(data: Any) -> None:
    """Print `data` as JSON, with escapes where the output cannot hold every letter; what JSON does
    not know (paths, times) becomes text."""
    holds_all = (sys.stdout.encoding or "").lower().startswith("utf")
    text = json.dumps(data, indent=2, ensure_ascii=not holds_all, default=str)
    click.echo(text.encode("utf-8", "backslashreplace").decode("utf-8"))


def show_table(columns: Sequence[str], rows: Sequence[Sequence[object]], title: str = "") -> None:
    """A table: framed in a terminal, aligned columns elsewhere. Nothing is cut in a pipe."""
    cells = [[printable(_text(cell)) for cell in row] for row in rows]
    if is_terminal():
        from skill_learner.cli import console

        console.table(columns, [[_short(cell) for cell in row] for row in cells], title)
        return
    if title:
        click.echo(title)
    lines = [list(columns), *([cell.replace("\n", " ") for cell in row] for row in cells)]
    widths = [max(len(line[index]) for line in lines) for index in range(len(columns))]
    for line in lines:
        padded = [cell.ljust(width) for cell, width in zip(line, widths, strict=True)]
        click.echo("  ".join(padded).rstrip())


def show_fields(fields: Mapping[str, object], title: str = "") -> None:
    """Names and values, one pair a line."""
    if title:
        click.secho(title, bold=True)
    width = max((len(name) for name in fields), default=0)
    for name, value in fields.items():
        click.echo(f"{name.ljust(width)}  {printable(_text(value))}".rstrip())


@contextlib.contextmanager
def progress(label: str) -> Iterator[Callable[[str], None]]:
    """A place for the steps of long work: a spinner in a terminal, lines on stderr elsewhere."""
    if sys.stderr.isatty():
        from skill_learner.cli import console

        with console.spinner(label) as step:
            yield lambda text: step(printable(text))
        return
    yield lambda text: click.echo(printable(text), err=True)


def counted(number: int, noun: str) -> str:
    """ "1 skill", "2 skills"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def ask(question: str, agree: str) -> None:
    """Go on only with the user's yes. agree: the option that says so beforehand, which is named
    where nobody is there to answer."""
    try:
        click.confirm(question, abort=True)
    except click.Abort:
        if sys.stdin.isatty():
            raise
        click.echo(err=True)
        raise click.ClickException(f"not agreed to, so nothing was done; {agree} agrees") from None


def when(moment: float | None) -> str:
    """A time for people: local, to the minute; "never" for none."""
    if not moment:
        return "never"
    return datetime.fromtimestamp(moment).strftime("%Y-%m-%d %H:%M")


def _short(cell: str) -> str:
    """Paths below the home folder as people write them; only for eyes, never for programs."""
    home = os.path.expanduser("~")
    return "~" + cell[len(home) :] if cell.startswith(home + os.sep) else cell


def _text(value: object) -> str:
    if value is None or value == "":
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.2f}"
    return str(value)
