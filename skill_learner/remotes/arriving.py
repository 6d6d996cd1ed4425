"""What a remote's version of a skill means for home: decided by rule, without touching anything.

nobody has it here            -> a new skill, active or candidate as trust allows
the same text is here         -> noted as the same
only the remote changed       -> home follows
both changed                  -> three-way merge; what does not merge waits with both texts
home's is the user's, pinned,
or active and not trusted     -> home stays; the remote's text waits as a candidate
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

from skill_learner.learning import injection
from skill_learner.learning.rule_ways import folded
from skill_learner.remotes.merging import merge
from skill_learner.remotes.packed_skill import unpack
from skill_learner.remotes.settings import RemoteSettings
from skill_learner.remotes.shared_skill import SharedChange, SharedSkill

if TYPE_CHECKING:  # as in `arrival_form`
    from skill_learner.remotes.home_skills import HomeSkill
    from skill_learner.remotes.sync_state import Pair

EMPTY: Mapping[str, str] = {}
Kind = Literal["create", "rename", "same", "update", "merge", "park", "pinned", "ignore"]
_OUR_MARKERS = re.compile(r"<!--\s*/?skill-learner|skill-learner[:-](?:begin|end|index)\b", re.I)
_OUR_NAME = "skill-learner"
"""Stands in every marker of ours; a search for it is many times as fast as one for a marker."""
_MOST_DESCRIPTION = 1024
_KEY_WORD = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+")
_POWERS = frozenset(
    {"agent", "allow", "allowed", "allowedtool", "approve", "auto", "bypass", "command", "context"}
    | {"disallowed", "env", "environment", "exec", "execute", "fork", "hook", "install", "mcp"}
    | {"mcpserver", "model", "mode", "permission", "plugin", "run", "sandbox", "script", "server"}
    | {"setup", "shell", "subagent", "tool", "trust"}
)
"""Words of front matter keys by which a skill runs something or changes what an agent may do, in
one editor or another (`allowed-tools`, `hooks`, `permissionMode`)."""


class Arrival(NamedTuple):
    """What is to be done with a remote's version.

    skill: the text that home is to have (create, rename, update, merge), or that waits (park).
    base: what both sides know from now on. state: the state that home gives it. why: in words.
    """

    kind: Kind
    base: SharedSkill
    skill: SharedSkill | None = None
    state: str = ""
    why: str = ""


@dataclass(frozen=True)
class Texts:
    """What home tells of a skill's texts. lineage: hashes of those that it is known to have had;
    earlier: those of them that home still has, newest last; own: the change of this machine that
    made today's."""

    lineage: frozenset[str] = frozenset()
    earlier: Mapping[str, SharedSkill] = field(default_factory=dict)
    own: SharedChange | None = None


NO_TEXTS = Texts()


def suspicions(shared: SharedSkill, accepted: Mapping[str, str] = EMPTY) -> list[str]:
    """Why a text that arrived must be read by a person first. accepted: front matter keys with
    lines that are in force at home already."""
    texts = [f"{shared.description}\n\n{shared.body}", *shared.further.values()]
    texts += [
        f"{path}\n{file.data.decode('utf-8', 'replace')}"
        for path, file in shared.attachments.items()
    ]
    found = [f.reason for text in texts for f in injection.findings(text) if f.kind != "open fence"]
    if any(_OUR_NAME in folded(text) and _OUR_MARKERS.search(text) for text in texts):
        found.append("holds our own markers")
    found += [
        f"its front matter key {key!r} gives it powers"
        for key, lines in shared.further.items()
        if _gives_powers(key) and accepted.get(key) != lines
    ]
    return list(dict.fromkeys(found))


def _gives_powers(key: str) -> bool:
    words = {word.lower() for word in _KEY_WORD.findall(key)}
    return not _POWERS.isdisjoint(words | {word.removesuffix("s") for word in words})


def granted_state(
    shared: SharedSkill, settings: RemoteSettings, accepted: Mapping[str, str] = EMPTY
) -> tuple[str, str]:
    """The state that a skill gets at home by trust alone, and why it is no better."""
    if shared.state != "active":
        return shared.state, f"{shared.state} at {settings.name}"
    if settings.trust == "none":
        return "candidate", f"{settings.name} is not trusted (trust: none)"
    if settings.trust == "reviewed" and not shared.approved:
        return "candidate", f"no person approved it at {settings.name} (trust: reviewed)"
    doubts = suspicions(shared, accepted)
    if doubts:
        return "candidate", "to be read first: " + "; ".join(doubts)
    return "active", ""


def decide(
    theirs: SharedSkill,
    home: HomeSkill | None,
    pair: Pair | None,
    settings: RemoteSettings,
    texts: Texts = NO_TEXTS,
) -> Arrival:
    """texts: of home's skill, where nothing is known of the pair."""
    if home is None:
        state, why = granted_state(theirs, settings)
        if state == "archived":
            return Arrival("ignore", theirs, why="archived there, and not here")
        return Arrival("create", theirs, theirs, state, why)
    base = unpack(pair.base) if pair is not None else common(theirs, home.shared, texts)
    if base is None:
        state, why = granted_state(theirs, settings)
        if state == "archived":
            return Arrival(
                "ignore", theirs, why="archived there; another skill of the name is here"
            )
        return Arrival("rename", theirs, theirs, state, why)
    return _meet(base, theirs, home, pair, settings)


def common(theirs: SharedSkill, home: SharedSkill, texts: Texts) -> SharedSkill | None:
    """The version that two copies have in common that met by another way; None when they are
    different skills of one name. A text that theirs had, and that home took up again since by a
    change that theirs does not know, is home's change."""
    if theirs.text_digest == home.text_digest:
        # what is active or archived there is offered to home; what is a candidate there takes
        # nothing away from home
        state = theirs.state if theirs.state == "candidate" else home.state
        return replace(theirs, state=state, scope=home.scope)
    if home.text_digest in theirs.lineage:
        return _left(theirs, home, texts) or replace(
            home, state=theirs.state, approved=theirs.approved
        )
    if theirs.text_digest in texts.lineage or theirs.text_digest in home.lineage:
        return theirs
    for text in reversed([*texts.earlier]):  # home's newest from which both went on
        if text in theirs.lineage:
            return replace(texts.earlier[text], state=theirs.state, approved=theirs.approved)
    return None


def _left(theirs: SharedSkill, home: SharedSkill, texts: Texts) -> SharedSkill | None:
    """The text that both had, and that home left for one that theirs had before, by a change that
    theirs does not know; None when home did not: then it is only behind."""
    own = texts.own
    if own is None or any(change.is_same(own) for change in theirs.history):
        return None
    order = [*texts.earlier]
    if home.text_digest in order[:-1]:  # home had it itself: what came in between is what it left
        order = order[order.index(home.text_digest) :]
    left = [text for text in order if text in theirs.lineage and text != home.text_digest]
    if not left or left[-1] == theirs.text_digest:
        return theirs if left else None
    return replace(texts.earlier[left[-1]], state=theirs.state, approved=theirs.approved)


def _meet(
    base: SharedSkill,
    theirs: SharedSkill,
    home: HomeSkill,
    pair: Pair | None,
    settings: RemoteSettings,
) -> Arrival:
    merged = merge(base, home.shared, theirs)
    if merged.skill is not None and merged.skill.digest == home.shared.digest:
        return Arrival("same", theirs)
    if home.pinned or home.name in settings.pin:
        return Arrival("pinned", theirs, why="pinned here")
    if not home.is_ours:
        return _met_by_a_users_file(merged.skill, theirs, home)
    if merged.skill is None:
        what = ", ".join(merged.conflicts)
        return Arrival("park", theirs, theirs, why=f"both sides changed: {what}")
    return _granted(merged.skill, theirs, home, pair, settings)


def _met_by_a_users_file(
    merged: SharedSkill | None, theirs: SharedSkill, home: HomeSkill
) -> Arrival:
    """It stays as it is. Neither is what others decided of the skill taken back for all of them."""
    stays = "the file here is the user's, and stays"
    if merged is None or merged.text_digest != home.shared.text_digest:
        return Arrival("park", theirs, theirs, why=stays)
    if (merged.state, merged.scope) == (home.shared.state, home.shared.scope):
        return Arrival("same", theirs)
    changed = merged.state if merged.state != home.shared.state else f"of {merged.scope}"
    return Arrival("park", theirs, None, why=f"{changed} there; {stays}")


def _granted(
    merged: SharedSkill,
    theirs: SharedSkill,
    home: HomeSkill,
    pair: Pair | None,
    settings: RemoteSettings,
) -> Arrival:
    """A clean merge, as far as trust lets it change what is active here."""
    now = str(home.stored.skill.state)
    changed = merged.text_digest != home.shared.text_digest
    kind: Kind = "update" if merged.digest == theirs.digest else "merge"
    if merged.state == "archived":
        if now == "archived":
            return Arrival("same", theirs)
        if settings.trust == "none" and (pair is None or pair.born == "home"):
            return Arrival("park", theirs, None, why="archived there; trust: none")
        return Arrival(kind, theirs, merged, "archived", f"archived at {settings.name}")
    accepted = home.shared.further if now == "active" else EMPTY
    state, why = granted_state(replace(merged, approved=theirs.approved), settings, accepted)
    if changed and now == "active" and state != "active":
        return Arrival("park", theirs, theirs, why=why)
    if now == "active" and merged.state == "active":
        state = "active"  # it is so already, by this machine's own decision
    return Arrival(kind, theirs, merged, state, why)


def undecided_text(home: HomeSkill, theirs: SharedSkill, why: str, remote: str) -> tuple[str, str]:
    """Description and text of the candidate that shows both versions."""
    description = f"Two versions of the skill {home.name} wait for a decision. {theirs.description}"
    body = (
        f"# Two versions of {home.name}\n\n"
        f"{why}. Neither was overwritten. `skill-learner sync {remote} --take {home.name}` takes "
        f"the remote's, `--keep {home.name}` keeps this machine's; an edit of {home.name} settles "
        "it, too.\n\n"
        f"## On this machine\n\n{_words(home.shared)}\n\n"
        f"## At {remote}, by {theirs.by or 'an unknown machine'}\n\n"
        f"{_words(theirs)}\n"
    )
    return description[:_MOST_DESCRIPTION], body


def _words(shared: SharedSkill) -> str:
    return "\n\n".join([shared.description, *shared.further.values(), shared.body])
