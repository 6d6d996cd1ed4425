"""Where the claims of a skill are proved: one append-only file each, beside the skills."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from skill_learner.files import append_line, ensure_private_dir
from skill_learner.models import Proof
from skill_learner.paths import safe_file_name


class ProofStore:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, name: str) -> Path:
        return self.folder / f"{safe_file_name(name)}.jsonl"

    def add(self, name: str, proofs: Sequence[Proof]) -> None:
        """Keep the proofs that are not there yet."""
        known = set(self.of(name))
        for proof in dict.fromkeys(proofs):
            if proof not in known:
                ensure_private_dir(self.folder)
                append_line(self.path(name), json.dumps(asdict(proof)).encode())

    def of(self, name: str) -> list[Proof]:
        """The proofs of a skill, in the order in which they came; damaged lines are left out."""
        try:
            lines = self.path(name).read_bytes().splitlines()
        except OSError:
            return []
        return [proof for proof in map(_proof, lines) if proof is not None]


def _proof(line: bytes) -> Proof | None:
    try:
        data = json.loads(line)
        proof = Proof(**data)
    except (ValueError, TypeError, RecursionError):
        return None
    texts = (proof.claim, proof.session, proof.source, proof.quote, proof.digest)
    fits = isinstance(proof.step, int) and all(isinstance(text, str) for text in texts)
    return proof if fits else None
