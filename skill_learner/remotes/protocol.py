"""What a remote must do: one module per engine, and one line in `remotes.ENGINES`.

A remote holds folders of files by skill name, each with a token that changes whenever the files do,
and counters that only grow. It knows nothing of libraries, trust or merging; `sync` does that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, runtime_checkable

from skill_learner.exchange.safe_files import Files

CounterKey = tuple[str, str, str]
"""Machine, skill (as the remote calls it), kind ("uses", "sessions")."""


class RemoteSkill(NamedTuple):
    """A skill as it stands at the remote. files: path to bytes; None when it is gone there, or when
    `fault` says why it cannot be taken (a link, too large). token: "" when it is gone. lost: nobody
    changed it there or took it out, the remote itself was set back: where it is gone, or is as
    home had it once, home's copy is sent again."""

    name: str
    token: str
    files: Files | None
    fault: str = ""
    lost: bool = False


@dataclass(frozen=True)
class Pulled:
    """What changed since the cursor that was given, and the cursor for the next time. Something may
    be told twice; nothing is left out. set_back: the remote lost something that it had, and this is
    all that it has now: what else home knows of it is lost there, too."""

    cursor: str
    skills: Sequence[RemoteSkill] = ()
    counters: Mapping[CounterKey, int] = field(default_factory=dict)
    set_back: bool = False


@dataclass(frozen=True)
class OutgoingSkill:
    """A skill to write. expected: the token of the version it replaces, "" for a new one; another
    version there is never overwritten. why: a line for the engine's log."""

    name: str
    files: Files
    expected: str
    why: str = ""


@dataclass(frozen=True)
class Pushed:
    """What became of a push. accepted: names with their new tokens. refused: names whose version
    there was another than expected. raced: somebody else wrote meanwhile; pull, and push again.
    proposed: where the changes wait for a person instead, in words ("" = they are in force); place:
    the same for `ProposingRemote.waits_at`.
    cursor: the one to pull from next, when it is another than the last pull's; else "". busy: with
    raced, in words, when somebody holds what must be written, and has not written yet."""

    accepted: Mapping[str, str] = field(default_factory=dict)
    refused: Sequence[str] = ()
    raced: bool = False
    proposed: str = ""
    place: str = ""
    cursor: str = ""
    busy: str = ""


Foretell = Callable[[int], None]
"""Is told how many skills a pull will bring, before they are read, where that is known."""


def unheard(count: int) -> None:
    """For whoever need not know before."""


class Remote(Protocol):
    """Raises RemoteUnavailableError when it cannot be reached now, RemoteError for any other fault.
    Every call may be repeated: what was done already is not done again."""

    def pull(self, cursor: str, foretell: Foretell = unheard) -> Pulled:
        """Changes since `cursor` ("" for everything)."""

    def push(
        self, skills: Sequence[OutgoingSkill], counters: Mapping[CounterKey, int]
    ) -> Pushed: ...

    def close(self) -> None: ...


@runtime_checkable
class HintingRemote(Protocol):
    """A remote that can tell at once that somebody wrote. A hint: it may be lost, or be for
    nothing."""

    def wait(self, seconds: float) -> bool:
        """Wait for word of a change; whether it came."""


@runtime_checkable
class ProposingRemote(Protocol):
    """A remote where changes may have to wait for a person."""

    def waits_at(self, place: str) -> bool:
        """Whether a proposal is there still; True, too, where something changed since the last
        pull, by which it may have come into force."""


@runtime_checkable
class LookingRemote(Protocol):
    """A remote at which a first pull makes something: a library of this name."""

    def look(self, cursor: str) -> Pulled:
        """A pull that makes nothing there."""


@runtime_checkable
class VectorRemote(Protocol):
    """A remote that also keeps embeddings, by model and by hash of the embedded text."""

    def vectors(self, model: str, hashes: Sequence[str]) -> dict[str, list[float]]: ...

    def put_vectors(self, model: str, vectors: Mapping[str, Sequence[float]]) -> None:
        """Add vectors; one that is there stays, unless it has another dimension."""

    def close(self) -> None: ...
