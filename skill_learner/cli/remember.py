"""`skill-learner remember TEXT`: note something as a candidate skill.

The seed skill tells agents to call this, so the text is an agent's claim, not the human's word: it
waits as a candidate until a session proves it or a person approves it.
"""

from __future__ import annotations

import os
from pathlib import Path

import click

from skill_learner.cli.output import json_option, say, show_json, warn
from skill_learner.cli.settings import key_of, load, root_of
from skill_learner.cli.skill_data import summary
from skill_learner.errors import LibraryError
from skill_learner.learning.descriptions import description_faults
from skill_learner.models import CreateSkill

MOST_CHARACTERS = 8_000


@click.command()
@click.argument("text", nargs=-1, required=True)
@click.option("--name", default="", help="Name of the skill (default: from the text).")
@click.option("--when", "when_to_use", default="", help="When to use it, in one sentence.")
@json_option
def command(text: tuple[str, ...], name: str, when_to_use: str, as_json: bool) -> None:
    """Note something about this project as a candidate skill."""
    from skill_learner.wiring import build_library

    body = " ".join(text).strip()
    if not body:
        raise LibraryError("there is no text to remember")
    _refuse_unfit(f"{name}\n{when_to_use}\n{body}")
    here = Path.cwd()
    config = load(here)
    library = build_library(config)
    scope = key_of(here)
    for known in library.list(states=("active", "candidate"), scope=scope):
        if known.body.strip() == body:
            if as_json:
                show_json(summary(known))
            else:
                say(f"{known.name} says that already ({known.state})")
            return
    skill = library.create(
        _draft(body, name, when_to_use),
        state="candidate",
        scope=scope,
        project_slug=root_of(here).name,
        origin="remember",
        session=os.environ.get("CLAUDE_CODE_SESSION_ID", ""),
    )
    if as_json:
        show_json(summary(skill))
        return
    say(f"{skill.name}: noted as a candidate")
    for fault in description_faults(skill.name, skill.description):
        warn(f"its description may not trigger: {fault} (--when says it)")
    say(f"It is used once a session proves it, or after `skill-learner approve {skill.name}`.")


def _refuse_unfit(text: str) -> None:
    from skill_learner.learning.redaction import Redactor

    if len(text) > MOST_CHARACTERS:
        raise LibraryError(
            f"{len(text)} characters are too many for a note",
            f"say it in at most {MOST_CHARACTERS}",
        )
    found = Redactor().findings(text)
    if found:
        kinds = ", ".join(sorted({item.kind for item in found}))
        raise LibraryError(
            f"the text holds what looks like a secret ({kinds}); nothing was written",
            "say where the value is kept instead of the value",
        )


def _draft(body: str, name: str, when_to_use: str) -> CreateSkill:
    from skill_learner.skills.validation import slugify_name

    first_line = body.splitlines()[0]
    return CreateSkill(
        name=slugify_name(name or " ".join(first_line.split()[:6])),
        description=when_to_use or first_line[:300],
        body=body + "\n",
        evidence=(),
    )
