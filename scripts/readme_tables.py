"""Write the README's table of commands anew from the program: `python scripts/readme_tables.py`.

The tests compare the two, so that the table cannot fall behind.
"""

from __future__ import annotations

from pathlib import Path

from skill_learner.cli.main import COMMANDS

README = Path(__file__).resolve().parents[1] / "README.md"
BEGIN, END = "<!-- commands:begin", "<!-- commands:end -->"


def command_table() -> str:
    rows = [f"| `{name}` | {text} |" for name, (_, text) in sorted(COMMANDS.items())]
    return "\n".join(["| command | what it does |", "|---|---|", *rows])


def with_tables(readme: str) -> str:
    """`readme` with what lies between the markers replaced."""
    before, marker, rest = readme.partition(BEGIN)
    comment, _, tail = rest.partition("\n")
    _, end, after = tail.partition(END)
    if not marker or not end:
        raise SystemExit(f"{README}: the markers {BEGIN} and {END} must both be there")
    return f"{before}{marker}{comment}\n{command_table()}\n{end}{after}"


def main() -> None:
    README.write_text(with_tables(README.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
