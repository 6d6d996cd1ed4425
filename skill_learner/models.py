"""Immutable records that the layers hand to one another. No I/O, no behaviour beyond shape."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

NAME_LIMIT = 64
DESCRIPTION_LIMIT = 1024
"""Characters, as the Agent Skills specification has them."""

# -- what a session was ------------------------------------------------------------------------

StepKind = Literal["human", "human_shell", "plan", "assistant", "tool", "notice", "summary"]
"""human: typed words. human_shell: a command the person ran in the editor (`!cmd`) with its output.
plan: text handed over as a request. assistant: model prose (a claim). tool: one call with its
result. notice: end of background work (its status counts, an agent's report in it is a claim).
summary: compaction summary (a claim)."""

ToolStatus = Literal["ok", "suspect", "failed", "rejected", "interrupted", "pending"]
"""suspect: reported as success, looks like a failure (error text, hidden exit code).
rejected: refused by the human. pending: no result was seen."""

TurnEnd = Literal["complete", "api_error", "interrupted", "open"]
"""How the last turn of a session ended."""


@dataclass(frozen=True)
class ToolCall:
    """One tool call. `input` is the decoded JSON object the model sent; `result` the text the model
    saw (decoded, `<system-reminder>` spans removed), None when none was recorded."""

    call_id: str
    name: str
    input: Mapping[str, Any]
    result: str | None
    status: ToolStatus
    background: bool = False
    changed_files: tuple[str, ...] = ()


@dataclass(frozen=True)
class Step:
    """One numbered step, counted from 1 within its session.

    text: the words (human, assistant, notice, summary, plan), or for human_shell the command;
    for tool steps the human's words when the call was rejected with words, else empty.
    source: where it came from, as `file:line` or `journal:line`, for evidence.
    uuid: the transcript's own id of the line ("" when it has none); resumed copies share it.
    """

    number: int
    kind: StepKind
    text: str
    call: ToolCall | None = None
    source: str = ""
    uuid: str = ""
    at: str = ""


@dataclass(frozen=True)
class Session:
    """A session as read from a transcript, a journal, or both.

    project: absolute path of the project's main work tree ("" when unknown).
    first_new_step: steps below this number were covered by an earlier completed review.
    loaded_skills: names of the skills the session loaded (Skill tool, typed, or read).
    parent: id of the session it was forked from or belongs to as a subagent, else "".
    damaged: lines that could not be parsed and were skipped.
    answers_count: a conversation in which no tool answered: the model's prose is taken as evidence,
    and what is learned from it is unverified.
    """

    id: str
    editor: str
    project: str
    steps: tuple[Step, ...]
    turn_end: TurnEnd = "complete"
    first_new_step: int = 1
    loaded_skills: frozenset[str] = frozenset()
    parent: str = ""
    damaged: int = 0
    source: str = ""
    answers_count: bool = False


# -- what a review sees ------------------------------------------------------------------------


@dataclass(frozen=True)
class Digest:
    """A session as text for a reviewer: numbered steps, redacted, within a token budget.

    tokens is an estimate (characters / 4). `shown` are the step numbers that appear in it.
    """

    text: str
    tokens: int
    shown: frozenset[int]


EpisodeKind = Literal[
    "fixed_failure", "correction", "refusal", "repeated_commands", "remember_request", "answered"
]


@dataclass(frozen=True)
class Episode:
    """A place in a session, found by rule, where something non-obvious may have been learned.

    steps: numbers of the steps that prove it, in order.
    trigger: what would make one want the knowledge again, as text (an error line, a request).
    trigger_key / remedy_key: normalised signatures, equal across sessions for the same thing.
    command, error, remedy: for fixed_failure the command that failed, its error text, and the
    command that passed. For words of the human, command is the one they speak of, if known; for
    repeated_commands and answered, remedy holds the commands. changed_files: repository-relative,
    changed in between.
    quote: the human's words verbatim (correction, refusal, remember_request).
    """

    kind: EpisodeKind
    steps: tuple[int, ...]
    trigger: str
    trigger_key: str
    remedy_key: str
    command: str = ""
    error: str = ""
    remedy: str = ""
    changed_files: tuple[str, ...] = ()
    quote: str = ""


# -- what a review proposes --------------------------------------------------------------------


@dataclass(frozen=True)
class Claim:
    """One sentence of a skill with the numbers of the steps that prove it."""

    text: str
    steps: tuple[int, ...]


@dataclass(frozen=True)
class CreateSkill:
    """A new skill. trigger_key and remedy_key come from the episode behind it ("" from an LLM).
    explicit: the human said in words that this is to be remembered. unverified: it rests on a
    model's answers that no tool result confirmed. why: why it is active, or waits (the gate sets
    these two). guardrail: it only warns of a failure that was not cured; it expires. asks: other
    words in which a person would ask for it; they only help search. scope: whose it is, told by the
    gate; "" leaves that to whoever writes it."""

    name: str
    description: str
    body: str
    evidence: tuple[Claim, ...]
    confidence: float = 1.0
    trigger_key: str = ""
    remedy_key: str = ""
    explicit: bool = False
    unverified: bool = False
    why: str = ""
    guardrail: bool = False
    asks: tuple[str, ...] = ()
    scope: str = ""


@dataclass(frozen=True)
class PatchSkill:
    """Replace `old`, which must occur exactly once in the body, by `new`; refused when the skill's
    content hash is no longer `base_hash` (the text the reviewer was shown)."""

    name: str
    base_hash: str
    old: str
    new: str
    evidence: tuple[Claim, ...]
    confidence: float = 1.0


@dataclass(frozen=True)
class ArchiveSkill:
    name: str
    reason: str
    evidence: tuple[Claim, ...]


@dataclass(frozen=True)
class DescribeSkill:
    """Another description for a skill; refused when its content is no longer `base_hash`."""

    name: str
    base_hash: str
    description: str
    evidence: tuple[Claim, ...] = ()


@dataclass(frozen=True)
class MergeSkills:
    """What several skills say, in one of them: `name` takes in what is new in each of `absorbed`,
    which go to the archive. Only the user applies it."""

    name: str
    absorbed: tuple[str, ...]
    reason: str
    evidence: tuple[Claim, ...] = ()


@dataclass(frozen=True)
class ProposalSource:
    """Who proposed, in which session ("" for none), for which scope."""

    origin: str
    session: str
    scope: str


Proposal = CreateSkill | PatchSkill | ArchiveSkill | DescribeSkill
"""What a reviewer may propose. (Merges are proposed by `curate` alone.)"""


@dataclass(frozen=True)
class Usage:
    """What one LLM call cost. cost_usd is None when the provider does not say."""

    provider: str
    model: str
    tokens_in: int
    tokens_out: int
    cost_usd: float | None = None


CallResult = Literal["ok", "faulty", "error", "timeout", "unavailable"]
"""How one LLM call went. faulty: an answer that could not be used. unavailable: nothing was sent
(not installed, no login, no key), so it counts for nothing."""


@dataclass(frozen=True)
class Review:
    """A reviewer's whole answer. nothing_because is non-empty exactly when proposals is empty.

    dropped: what the reviewer took back itself (too unsure), one sentence each.
    """

    outcome: str
    proposals: tuple[Proposal, ...]
    nothing_because: str = ""
    usage: tuple[Usage, ...] = ()
    dropped: tuple[str, ...] = ()


Verdict = Literal["active", "candidate", "patch", "archive", "evidence", "propose", "reject"]
"""What the gate lets happen: create as active or candidate, patch, archive, add this session as
further evidence to an existing skill (which may promote it), keep a patch or archiving as a
proposal that waits for the user, or nothing."""


@dataclass(frozen=True)
class Proof:
    """Where one claim of a skill is proved: session and step, the step's place in its transcript,
    a short redacted quote, and the sha256 of the step's whole text."""

    claim: str
    session: str
    step: int
    source: str
    quote: str
    digest: str


@dataclass(frozen=True)
class Decision:
    """The gate's word on one proposal, with every reason in words. `skill` names the existing skill
    that a patch, archive or evidence verdict concerns. `proposal` is as cleaned by the gate.
    promote: with verdict "evidence", whether this session's evidence makes the candidate active.
    proofs: where its claims are proved; none when rejected."""

    proposal: Proposal
    verdict: Verdict
    reasons: tuple[str, ...]
    skill: str = ""
    promote: bool = False
    proofs: tuple[Proof, ...] = ()


# -- what the library holds --------------------------------------------------------------------

SkillState = Literal["active", "candidate", "archived"]


ENOUGH_SESSIONS = 50
"""How many sessions are noted as a skill's evidence: more prove nothing, and each is told in every
entry of its history."""


@dataclass(frozen=True)
class Skill:
    """A skill as read from its SKILL.md.

    name: folder name, the identity. scope: project key (see `project.py`), or "user".
    content_hash: sha256 hex of the file's bytes. ours: we have a record of it and its bytes are
    what we last wrote; anything else is the user's and is never written.
    metadata: the front matter's `metadata`, values as strings, our keys under `skill-learner-*`.
    sessions: ids of the sessions that brought evidence. asks: what humans asked for when the skill
    was learned or loaded, newest first.
    """

    name: str
    description: str
    body: str
    state: SkillState
    scope: str
    path: str
    content_hash: str
    ours: bool
    metadata: Mapping[str, str] = field(default_factory=dict)
    sessions: tuple[str, ...] = ()
    trigger_key: str = ""
    remedy_key: str = ""
    origin: str = ""
    version: int = 1
    warnings: tuple[str, ...] = ()
    asks: tuple[str, ...] = ()
