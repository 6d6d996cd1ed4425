"""Reading the one structured answer of an LLM review, with every fault named."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from skill_learner.interfaces import LLMResponse
from skill_learner.models import (
    DESCRIPTION_LIMIT,
    NAME_LIMIT,
    ArchiveSkill,
    Claim,
    CreateSkill,
    DescribeSkill,
    PatchSkill,
    Proposal,
    Skill,
)
from skill_learner.reviewers.answer_object import (
    FaultyAnswerError,
    answer_object,
    kind_of,
    step_numbers,
    without_front_matter,
)

LEAST_CONFIDENCE = 0.7

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_MOST_ASKS, _LONGEST_ASK = 4, 200

_ALIASES: dict[str, tuple[str, ...]] = {
    "body": ("content", "file_content", "markdown", "skill_md", "text"),
    "base_hash": ("hash", "content_hash"),
    "old": ("old_string", "old_text"),
    "new": ("new_string", "new_text"),
    "reason": ("why",),
    "action": ("operation", "type"),
    "claim": ("text", "sentence"),
    "steps": ("step", "step_ids", "ids"),
}


@dataclass(frozen=True)
class Answer:
    """A sound answer. dropped: proposals below `LEAST_CONFIDENCE`, one sentence each."""

    outcome: str
    proposals: tuple[Proposal, ...]
    nothing_because: str
    dropped: tuple[str, ...]


def read_answer(response: LLMResponse, *, last_step: int, neighbours: Sequence[Skill]) -> Answer:
    """The answer in a response: from its `submit_review` call, else from its content.

    last_step: the session's highest step number; evidence cannot point beyond it. neighbours: the
    skills the reviewer was shown; only those can be patched or archived. Raises FaultyAnswerError.
    """
    return _Reading(last_step, {skill.name: skill for skill in neighbours}).answer(
        answer_object(response)
    )


class _Reading:
    """Reads one answer; collects faults so that all are named at once."""

    def __init__(self, last_step: int, neighbours: Mapping[str, Skill]) -> None:
        self._last_step = last_step
        self._neighbours = neighbours
        self._faults: list[str] = []

    def answer(self, data: Mapping[str, Any]) -> Answer:
        skills = data.get("skills")
        if skills is None and "nothing_because" in data:
            skills = []
        if not isinstance(skills, list):
            raise FaultyAnswerError([f"skills: a list is expected, not {kind_of(skills)}"])
        proposals: list[Proposal] = []
        dropped: list[str] = []
        for index, item in enumerate(skills):
            unsure = _too_unsure(item)
            if unsure:
                dropped.append(unsure)
                continue
            proposal = self._proposal(item, f"skills[{index}]")
            if proposal is not None:
                proposals.append(proposal)
        because = self._text(data, "nothing_because", "", required=False).strip()
        if not skills and not because:
            self._faults.append("nothing_because: give the reason, since skills is empty")
        outcome = self._text(data, "outcome", "", required=False).strip()
        if self._faults:
            raise FaultyAnswerError(self._faults)
        if proposals:
            because = ""
        elif not because:
            because = "; ".join(dropped)
        return Answer(outcome, tuple(proposals), because, tuple(dropped))

    def _proposal(self, item: object, where: str) -> Proposal | None:
        if not isinstance(item, dict):
            self._faults.append(f"{where}: an object is expected, not {kind_of(item)}")
            return None
        before = len(self._faults)
        action = _field(item, "action")
        readers = {
            "create": self._create,
            "guardrail": self._guardrail,
            "patch": self._patch,
            "describe": self._describe,
            "archive": self._archive,
        }
        if action is None:
            action = "patch" if {"old", "old_string"} & item.keys() else "create"
        if not isinstance(action, str) or action not in readers:
            known = ", ".join(f"`{name}`" for name in readers)
            self._faults.append(f"{where}.action: one of {known}, not {action!r}")
            return None
        name = self._text(item, "name", where).strip()
        evidence = self._evidence(_field(item, "evidence"), f"{where}.evidence")
        confidence = self._confidence(item, where)
        proposal = readers[action](item, where, name, (evidence, confidence))
        return proposal if len(self._faults) == before else None

    def _guardrail(
        self, item: dict[str, Any], where: str, name: str, proof: tuple[tuple[Claim, ...], float]
    ) -> Proposal:
        return replace(self._create(item, where, name, proof), guardrail=True)

    def _describe(
        self, item: dict[str, Any], where: str, name: str, proof: tuple[tuple[Claim, ...], float]
    ) -> Proposal:
        self._known(name, where)
        base_hash = self._text(item, "base_hash", where).strip()
        description = " ".join(self._text(item, "description", where).split())
        if len(description) > DESCRIPTION_LIMIT:
            self._faults.append(
                f"{where}.description: {len(description)} characters; at most {DESCRIPTION_LIMIT}"
            )
        return DescribeSkill(name, base_hash, description, proof[0])

    def _create(
        self, item: dict[str, Any], where: str, name: str, proof: tuple[tuple[Claim, ...], float]
    ) -> CreateSkill:
        if name and (not _NAME.fullmatch(name) or len(name) > NAME_LIMIT):
            self._faults.append(
                f"{where}.name: lower-case ASCII words joined by hyphens, at most {NAME_LIMIT} "
                f"characters, not {name!r}"
            )
        description = " ".join(self._text(item, "description", where).split())
        if len(description) > DESCRIPTION_LIMIT:
            self._faults.append(
                f"{where}.description: {len(description)} characters; at most {DESCRIPTION_LIMIT}"
            )
        body = without_front_matter(self._text(item, "body", where)).strip()
        if not body and isinstance(_field(item, "body"), str) and _field(item, "body"):
            self._faults.append(f"{where}.body: nothing stands after its front matter")
        asks = _asks(_field(item, "asks"))
        return CreateSkill(name, description, body + "\n", proof[0], proof[1], asks=asks)

    def _patch(
        self, item: dict[str, Any], where: str, name: str, proof: tuple[tuple[Claim, ...], float]
    ) -> Proposal:
        old = self._text(item, "old", where)
        new = self._text(item, "new", where, may_be_empty=True)
        base_hash = self._text(item, "base_hash", where).strip()
        skill = self._known(name, where)
        if skill is not None and base_hash and base_hash != skill.content_hash:
            self._faults.append(
                f"{where}.base_hash: `{name}` as you were shown it has {skill.content_hash}"
            )
        if skill is not None and old:
            self._check_occurs_once(skill, old, where)
        if old and old == new:
            self._faults.append(f"{where}.new: equal to `old`; nothing would change")
        return PatchSkill(name, base_hash, old, new, proof[0], proof[1])

    def _archive(
        self, item: dict[str, Any], where: str, name: str, proof: tuple[tuple[Claim, ...], float]
    ) -> Proposal:
        self._known(name, where)
        return ArchiveSkill(name, self._text(item, "reason", where).strip(), proof[0])

    def _known(self, name: str, where: str) -> Skill | None:
        skill = self._neighbours.get(name)
        if skill is None and name:
            shown = ", ".join(self._neighbours) or "none"
            self._faults.append(
                f"{where}.name: no existing skill `{name}` was shown to you (shown: {shown})"
            )
        return skill

    def _check_occurs_once(self, skill: Skill, old: str, where: str) -> None:
        count = skill.body.count(old)
        if count == 1:
            return
        if count == 0:
            self._faults.append(
                f"{where}.old: does not occur in `{skill.name}`; its body is:\n{skill.body}"
            )
            return
        lines = []
        position = skill.body.find(old)
        while position >= 0:
            lines.append(str(skill.body.count("\n", 0, position) + 1))
            position = skill.body.find(old, position + 1)
        self._faults.append(
            f"{where}.old: occurs {count} times in `{skill.name}` (body lines {', '.join(lines)}); "
            "take in more of the text around it"
        )

    def _evidence(self, value: object, where: str) -> tuple[Claim, ...]:
        if not isinstance(value, list) or not value:
            self._faults.append(f"{where}: at least one claim with its steps is needed")
            return ()
        claims = []
        for index, entry in enumerate(value):
            place = f"{where}[{index}]"
            if not isinstance(entry, dict):
                self._faults.append(f"{place}: an object is expected, not {kind_of(entry)}")
                continue
            text = self._text(entry, "claim", place).strip()
            claims.append(Claim(text, self._steps(_field(entry, "steps"), f"{place}.steps")))
        return tuple(claims)

    def _steps(self, value: object, where: str) -> tuple[int, ...]:
        items = value if isinstance(value, list) else [value]
        numbers: list[int] = []
        for item in items:
            read = step_numbers(item)
            if read is None:
                self._faults.append(f"{where}: step numbers are expected, not {item!r}")
            else:
                numbers += read
        outside = [number for number in numbers if not 1 <= number <= self._last_step]
        if outside:
            self._faults.append(
                f"{where}: there is no step {outside[0]}; steps run from 1 to {self._last_step}"
            )
        if not numbers and value in (None, []):
            self._faults.append(f"{where}: at least one step number is needed")
        return tuple(dict.fromkeys(numbers))

    def _confidence(self, item: Mapping[str, Any], where: str) -> float:
        value = item.get("confidence")
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
            self._faults.append(f"{where}.confidence: a number from 0 to 1, not {value!r}")
            return 0.0
        return float(value)

    def _text(
        self,
        item: Mapping[str, Any],
        key: str,
        where: str,
        *,
        required: bool = True,
        may_be_empty: bool = False,
    ) -> str:
        value = _field(item, key)
        place = f"{where}.{key}" if where else key
        if value is None and not required:
            return ""
        if not isinstance(value, str):
            self._faults.append(f"{place}: a text is expected, not {kind_of(value)}")
            return ""
        if required and not may_be_empty and not value.strip():
            self._faults.append(f"{place}: is empty")
        return value


def _too_unsure(item: object) -> str:
    """Why a proposal is dropped before anything else of it is looked at, or ""."""
    confidence = item.get("confidence") if isinstance(item, dict) else None
    if isinstance(confidence, bool) or not isinstance(confidence, (int, float)):
        return ""
    if not 0 <= confidence < LEAST_CONFIDENCE:
        return ""
    name = item.get("name") if isinstance(item, dict) else ""
    return f"{name}: the reviewer's confidence {confidence:g} is below {LEAST_CONFIDENCE:g}"


def _field(item: Mapping[str, Any], key: str) -> Any:
    """The value under `key`, or under the one alias of it that is there."""
    if key in item:
        return item[key]
    named = [alias for alias in _ALIASES.get(key, ()) if alias in item]
    return item[named[0]] if len(named) == 1 else None


def _asks(given: Any) -> tuple[str, ...]:
    """Other ways to ask for a skill: a help to search, so that what is no text is left out."""
    asks = given if isinstance(given, list) else []
    texts = [" ".join(ask.split())[:_LONGEST_ASK] for ask in asks if isinstance(ask, str)]
    return tuple(text for text in texts if text)[:_MOST_ASKS]
