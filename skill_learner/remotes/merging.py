"""Three-way merge of a skill: the version both know, home's, and the remote's. Pure."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from skill_learner.remotes.shared_skill import (
    MOST_CHANGES,
    MOST_SESSIONS,
    SharedSkill,
    with_lineage,
)

_Value = TypeVar("_Value")


@dataclass(frozen=True)
class Merged:
    """skill: None when `conflicts` (fields that both sides changed, differently) is not empty."""

    skill: SharedSkill | None
    conflicts: tuple[str, ...] = ()


def merge(base: SharedSkill, home: SharedSkill, theirs: SharedSkill) -> Merged:
    """Both sides' changes since `base` in one skill. Evidence and history of both are united; when
    one side archives and the other changes the state otherwise, archived wins."""
    conflicts: list[str] = []

    def choose(field: str, ours: _Value, before: _Value, other: _Value) -> _Value:
        if other in (ours, before):
            return ours
        if ours == before:
            return other
        conflicts.append(field)
        return ours

    body = merge_lines(base.body, home.body, theirs.body)
    if body is None:
        conflicts.append("text")
    merged = replace(
        home,
        description=choose("description", home.description, base.description, theirs.description),
        license=choose("license", home.license, base.license, theirs.license),
        body=home.body if body is None else body,
        metadata=_merge_maps(base.metadata, home.metadata, theirs.metadata, "metadata", conflicts),
        further=_merge_maps(base.further, home.further, theirs.further, "key", conflicts),
        attachments=_merge_maps(
            base.attachments, home.attachments, theirs.attachments, "file", conflicts
        ),
        state=_merged_state(base.state, home.state, theirs.state),
        scope=theirs.scope if home.scope == base.scope else home.scope,
        sessions=tuple(sorted({*home.sessions, *theirs.sessions}))[-MOST_SESSIONS:],
        trigger_key=home.trigger_key or theirs.trigger_key,
        remedy_key=home.remedy_key or theirs.remedy_key,
        unverified=theirs.unverified if home.unverified == base.unverified else home.unverified,
        approved=home.approved or theirs.approved,
        version=max(home.version, theirs.version) + 1,
        history=tuple(dict.fromkeys((*theirs.history, *home.history)))[-MOST_CHANGES:],
    )
    if conflicts:
        return Merged(None, tuple(conflicts))
    return Merged(with_lineage(merged, theirs.lineage, home.lineage))


def merge_lines(base: str, home: str, theirs: str) -> str | None:
    """A text with the changed lines of both; None when both changed the same or touching lines
    differently."""
    if theirs in (home, base):
        return home
    if home == base:
        return theirs
    b, h, t = (text.splitlines(keepends=True) for text in (base + "\n", home + "\n", theirs + "\n"))
    pieces: list[str] = []
    at_b = at_h = at_t = 0
    for start_b, start_h, start_t, size in _common_runs(b, h, t):
        old, ours, other = b[at_b:start_b], h[at_h:start_h], t[at_t:start_t]
        if ours in (other, old):
            pieces += other
        elif other == old:
            pieces += ours
        else:
            return None
        pieces += b[start_b : start_b + size]
        at_b, at_h, at_t = start_b + size, start_h + size, start_t + size
    return "".join(pieces).removesuffix("\n")


def _common_runs(b: list[str], h: list[str], t: list[str]) -> list[tuple[int, int, int, int]]:
    """Runs of lines that all three share, in order, ended by an empty run at the ends."""
    in_home = _matches(b, h)
    in_theirs = _matches(b, t)
    runs: list[tuple[int, int, int, int]] = []
    for line in range(len(b)):
        if line not in in_home or line not in in_theirs:
            continue
        place = (line, in_home[line], in_theirs[line])
        if runs:
            s_b, s_h, s_t, size = runs[-1]
            if place == (s_b + size, s_h + size, s_t + size):
                runs[-1] = (s_b, s_h, s_t, size + 1)
                continue
        runs.append((*place, 1))
    return [*runs, (len(b), len(h), len(t), 0)]


def _matches(base: list[str], other: list[str]) -> dict[int, int]:
    matcher = difflib.SequenceMatcher(None, base, other, autojunk=False)
    return {
        block.a + step: block.b + step
        for block in matcher.get_matching_blocks()
        for step in range(block.size)
    }


def _merge_maps(
    base: Mapping[str, _Value],
    home: Mapping[str, _Value],
    theirs: Mapping[str, _Value],
    what: str,
    conflicts: list[str],
) -> dict[str, _Value]:
    merged: dict[str, _Value] = {}
    for key in dict.fromkeys((*home, *theirs)):
        before, ours, other = base.get(key), home.get(key), theirs.get(key)
        value = ours
        if other not in (ours, before):
            value = other
            if ours != before:
                conflicts.append(f"{what} {key}")
        if value is not None:
            merged[key] = value
    return merged


def _merged_state(base: str, home: str, theirs: str) -> str:
    if theirs in (home, base):
        return home
    if home == base:
        return theirs
    return "archived" if "archived" in (home, theirs) else home
