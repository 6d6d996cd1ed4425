"""Proposals that wait for the user, and the memory of what the user decided.

One JSON file for each proposal that waits; `decided.jsonl` says what became of the others. A file
that cannot be read counts as none.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from skill_learner.errors import LibraryError
from skill_learner.files import append_line, atomic_write, ensure_private_dir
from skill_learner.models import (
    ArchiveSkill,
    Claim,
    DescribeSkill,
    MergeSkills,
    PatchSkill,
    Proof,
    ProposalSource,
)
from skill_learner.skills.history import now

Parkable = PatchSkill | ArchiveSkill | DescribeSkill | MergeSkills
KINDS: dict[str, type[Parkable]] = {
    "patch": PatchSkill,
    "archive": ArchiveSkill,
    "describe": DescribeSkill,
    "merge": MergeSkills,
}


@dataclass(frozen=True)
class Parked:
    """A proposal that waits. id: short, and the same for the same proposal. why: why it waits.
    prints: its identities, by which it is known again."""

    id: str
    proposal: Parkable
    source: ProposalSource
    why: tuple[str, ...]
    at: str
    prints: tuple[str, ...] = ()
    proofs: tuple[Proof, ...] = field(default=())

    @property
    def kind(self) -> str:
        return next(kind for kind, shape in KINDS.items() if isinstance(self.proposal, shape))

    @property
    def skill(self) -> str:
        return self.proposal.name


class ProposalStore:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._decided = folder / "decided.jsonl"

    def park(
        self,
        proposal: Parkable,
        prints: Collection[str],
        source: ProposalSource,
        *,
        why: Sequence[str],
        proofs: Sequence[Proof] = (),
    ) -> Parked | None:
        """Keep a proposal until the user decides; None when they rejected it before. The same
        proposal made twice waits once."""
        if self.refused() & frozenset(prints):
            return None
        identity = hashlib.sha256("\x1f".join(sorted(prints)).encode()).hexdigest()[:8]
        parked = Parked(
            identity, proposal, source, tuple(why), now(), tuple(sorted(prints)), tuple(proofs)
        )
        ensure_private_dir(self.folder)
        data = {**asdict(parked), "kind": parked.kind}
        atomic_write(self._path(identity), json.dumps(data, indent=1).encode())
        return parked

    def all(self) -> list[Parked]:
        """The proposals that wait, oldest first."""
        try:
            paths = sorted(self.folder.glob("*.json"))
        except OSError:
            return []
        found = [parked for parked in map(_load, paths) if parked is not None]
        return sorted(found, key=lambda one: (one.at, one.id))

    def of(self, name: str) -> list[Parked]:
        """The proposals with that id, or for the skill of that name."""
        return [one for one in self.all() if name in (one.id, one.skill)]

    def one(self, name: str) -> Parked:
        """The one proposal meant; LibraryError when there is none, or several to choose from."""
        found = self.of(name)
        if not found:
            raise LibraryError(f"no proposal waits for {name!r}", "See `skill-learner candidates`.")
        if len(found) > 1:
            ids = ", ".join(one.id for one in found)
            raise LibraryError(f"{len(found)} proposals wait for {name!r}", f"Name one: {ids}.")
        return found[0]

    def decide(
        self, parked: Parked, verdict: Literal["approved", "rejected", "outdated"], why: str
    ) -> None:
        """Write down what became of a proposal, and let it wait no longer."""
        self.remember(verdict, parked.prints, why=why, skill=parked.skill)
        with contextlib.suppress(FileNotFoundError):
            self._path(parked.id).unlink()

    def remember(self, verdict: str, prints: Iterable[str], *, why: str, skill: str) -> None:
        ensure_private_dir(self.folder)
        line = {"verdict": verdict, "skill": skill, "why": why, "at": now(), "prints": list(prints)}
        append_line(self._decided, json.dumps(line).encode())

    def refused(self) -> frozenset[str]:
        """Identities of all that was rejected and not approved since."""
        refused: set[str] = set()
        for line in self.decisions():
            prints = line.get("prints")
            names = {one for one in prints if isinstance(one, str)} if prints else set()
            if line.get("verdict") == "rejected":
                refused |= names
            elif line.get("verdict") == "approved":
                refused -= names
        return frozenset(refused)

    def decisions(self) -> list[dict[str, Any]]:
        """What was decided, oldest first; damaged lines are left out."""
        found: list[dict[str, Any]] = []
        with contextlib.suppress(OSError):
            for raw in self._decided.read_bytes().splitlines():
                with contextlib.suppress(ValueError, RecursionError):
                    line = json.loads(raw)
                    if isinstance(line, dict) and isinstance(line.get("prints"), list):
                        found.append(line)
        return found

    def _path(self, identity: str) -> Path:
        return self.folder / f"{identity}.json"


def _load(path: Path) -> Parked | None:
    try:
        data = json.loads(path.read_bytes())
        shape = KINDS[data.pop("kind")]
        data["proposal"] = _proposal(shape, data["proposal"])
        data["source"] = ProposalSource(**data["source"])
        data["proofs"] = tuple(Proof(**one) for one in data.get("proofs", ()))
        data["why"], data["prints"] = tuple(data["why"]), tuple(data["prints"])
        parked = Parked(**data)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return parked if isinstance(parked.proposal.name, str) and parked.id == path.stem else None


def _proposal(shape: type[Parkable], data: Mapping[str, Any]) -> Parkable:
    values = dict(data)
    values["evidence"] = tuple(
        Claim(str(one["text"]), tuple(one["steps"])) for one in values.get("evidence", ())
    )
    if "absorbed" in values:
        values["absorbed"] = tuple(values["absorbed"])
    return shape(**values)
