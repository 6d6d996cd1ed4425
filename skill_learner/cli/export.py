"""`skill-learner export`: the library as one JSON document."""

from __future__ import annotations

from pathlib import Path

import click

from skill_learner.cli.output import say, show_json
from skill_learner.cli.settings import load


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--format", "kind", type=click.Choice(["json"]), default="json", show_default=True)
@click.option("--output", "-o", type=click.Path(path_type=Path), help="A file instead of stdout.")
@click.option("--all", "everything", is_flag=True, help="Archived skills too.")
def command(names: tuple[str, ...], kind: str, output: Path | None, everything: bool) -> None:
    """Write skills (all, or those named) with their files as one JSON document."""
    import json

    from skill_learner.files import atomic_write
    from skill_learner.skill_exchange import export_document
    from skill_learner.wiring import build_library

    library = build_library(load())
    if names:
        skills = [library.get(name) for name in names]
    elif everything:
        skills = library.list(states=("active", "candidate", "archived"))
    else:
        skills = library.list(states=("active", "candidate"))
    document = export_document(skills)
    if output is None:
        show_json(document)
        return
    atomic_write(output, json.dumps(document, indent=2, ensure_ascii=True).encode() + b"\n")
    say(f"{output}: {len(skills)} skills")
