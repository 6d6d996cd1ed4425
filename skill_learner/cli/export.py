"""`skill-learner export`: the library as one JSON document or one zip archive."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from skill_learner.cli.output import say, show_json, warn
from skill_learner.cli.settings import load

if TYPE_CHECKING:
    from skill_learner.exchange.exported import ExportedSkill


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option(
    "--format", "kind", type=click.Choice(["json", "zip"]), default="json", show_default=True
)
@click.option("--output", "-o", type=click.Path(path_type=Path), help="A file instead of stdout.")
@click.option("--all", "everything", is_flag=True, help="Archived skills too.")
def command(names: tuple[str, ...], kind: str, output: Path | None, everything: bool) -> None:
    """Write skills (all, or those named) with all their files, byte for byte."""
    from skill_learner.exchange.exported import exported, refusals
    from skill_learner.wiring import build_library

    library = build_library(load())
    if names:
        skills = [library.get(name) for name in dict.fromkeys(names)]
    elif everything:
        skills = library.list(states=("active", "candidate", "archived"))
    else:
        skills = library.list(states=("active", "candidate"))
    leaving = [exported(skill) for skill in skills]
    _warn_of_secrets(leaving)
    for refusal in refusals(leaving):
        warn(f"an import will refuse this: {refusal}")
    _write(leaving, kind, output)


def _warn_of_secrets(skills: Sequence[ExportedSkill]) -> None:
    """Every file is looked at, as it is when skills go to a remote: all of them leave."""
    from skill_learner.learning.redaction import Redactor

    findings = Redactor().findings
    for skill in skills:
        for path, file in skill.files.items():
            text = file.data.decode("utf-8", "replace")
            kinds = sorted({found.kind for found in (*findings(path), *findings(text))})
            if kinds:
                looks = ", ".join(kinds)
                warn(f"{skill.name}: {path} holds what looks like {looks}; look before you share")


def _write(skills: Sequence[ExportedSkill], kind: str, output: Path | None) -> None:
    import json

    from skill_learner.exchange.archives import export_archive
    from skill_learner.exchange.documents import export_document
    from skill_learner.files import atomic_write

    if kind == "zip":
        data = export_archive(skills)
        if output is None and sys.stdout.isatty():
            raise click.UsageError("a zip archive is not for the terminal; name a file with -o")
    elif output is None:
        show_json(export_document(skills))
        return
    else:
        document = export_document(skills)
        data = json.dumps(document, indent=2, ensure_ascii=True).encode() + b"\n"
    if output is None:
        sys.stdout.buffer.write(data)
        return
    atomic_write(output, data)
    say(f"{output}: {len(skills)} skills")
