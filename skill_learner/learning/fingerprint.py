"""A proposal's identity across sessions: equal for the same thing proposed again in other words of
white space, case and punctuation. What the user rejected is known by it."""

from __future__ import annotations

import hashlib
import re

from skill_learner.models import ArchiveSkill, CreateSkill, DescribeSkill, PatchSkill, Proposal

_WORD = re.compile(r"\w+")


def fingerprints(proposal: Proposal) -> frozenset[str]:
    """All identities of a proposal; two proposals are the same when they share one."""
    if isinstance(proposal, CreateSkill):
        found = {_digest("create", proposal.description, proposal.body)}
        if proposal.trigger_key:
            found.add(f"trigger {proposal.trigger_key} {proposal.remedy_key}")
        return frozenset(found)
    if isinstance(proposal, PatchSkill):
        return frozenset({_digest("patch", proposal.name, proposal.new)})
    if isinstance(proposal, DescribeSkill):
        return frozenset({_digest("describe", proposal.name, proposal.description)})
    assert isinstance(proposal, ArchiveSkill)
    return frozenset({_digest("archive", proposal.name)})


def _digest(kind: str, *texts: str) -> str:
    words = "\x1f".join(" ".join(_WORD.findall(text.lower())) for text in texts)
    return f"{kind} {hashlib.sha256(words.encode('utf-8', 'replace')).hexdigest()[:32]}"
