"""`skill-learner show NAME`: one skill, its text and its history."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

import click

from skill_learner.cli.output import json_option, say, show_fields, show_json, show_table, when
from skill_learner.cli.settings import load
from skill_learner.cli.skill_data import offer_data, offers_of, summary, uses_of
from skill_learner.models import Proof, Skill


@click.command()
@click.argument("name")
@click.option("--evidence", is_flag=True, help="Each claim with the session and step behind it.")
@json_option
def command(name: str, evidence: bool, as_json: bool) -> None:
    """Show one skill: state, where it came from, its text, what was done to it."""
    from skill_learner.wiring import build_library

    config = load()
    library = build_library(config)
    skill = library.get(name)
    proofs = library.proofs.of(skill.name)
    if evidence and not as_json:
        _show_evidence(skill, proofs)
        return
    use = uses_of(config, [skill]).get(skill.name)
    history = library.history(skill.name)
    data = {**summary(skill, use), **offer_data(offers_of(config).get(skill.name))}
    data["asks"] = list(skill.asks)
    if as_json:
        told = [item._asdict() for item in history]
        proved = [asdict(proof) for proof in proofs]
        show_json({**data, "body": skill.body, "history": told, "evidence": proved})
        return
    data["asks"] = " | ".join(skill.asks)
    data["sessions"] = len(skill.sessions)
    data["last_used"] = when(use.last_used if use else None)
    data["warnings"] = "; ".join(skill.warnings)
    show_fields(data)
    say()
    say(skill.body.strip())
    if history:
        say()
        show_table(
            ("when", "what", "by", "why"),
            [(item.at, item.action, item.actor, item.why) for item in history],
        )


def _show_evidence(skill: Skill, proofs: Sequence[Proof]) -> None:
    if not proofs:
        say(f"{skill.name}: no claim of it was proved by a session that is on record")
        return
    for claim in dict.fromkeys(proof.claim for proof in proofs):
        say(claim)
        for proof in proofs:
            if proof.claim == claim:
                say(f"  session {proof.session}, step {proof.step} ({proof.source})")
                say(f"    {proof.quote}  [sha256 {proof.digest[:12]}]")
