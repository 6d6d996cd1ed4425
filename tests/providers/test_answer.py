from __future__ import annotations

import copy
import json
import os
from pathlib import Path
from typing import Any

import pytest

from skill_learner.models import ArchiveSkill, CreateSkill, PatchSkill, Skill
from skill_learner.reviewers.answer import Answer, read_answer
from skill_learner.reviewers.answer_object import FaultyAnswerError
from skill_learner.testing import ScriptedAnswer, ScriptedToolCall, tool_answer

LAST_STEP = 20
Data = dict[str, Any]


def read(data: Any, *neighbours: Skill) -> Answer:
    return read_answer(tool_answer(data), last_step=LAST_STEP, neighbours=neighbours)


def faults(data: Any, *neighbours: Skill) -> tuple[str, ...]:
    with pytest.raises(FaultyAnswerError) as error:
        read(data, *neighbours)
    return error.value.faults


def changed(answer: Data, **fields: Any) -> Data:
    copied = copy.deepcopy(answer)
    for key, value in fields.items():
        if value is None:
            del copied["skills"][0][key]
        else:
            copied["skills"][0][key] = value
    return copied


def test_a_sound_answer(sound_answer: Data) -> None:
    answer = read(sound_answer)
    (proposal,) = answer.proposals
    assert isinstance(proposal, CreateSkill)
    assert proposal.name == "set-shop-currency"
    assert proposal.body == "## Steps\n1. Set `currency` in `settings.toml`.\n"
    assert [(claim.text, claim.steps) for claim in proposal.evidence] == [
        ("the test passed after the change", (3, 7))
    ]
    assert answer.nothing_because == ""


def test_nothing_needs_its_reason() -> None:
    nothing = {"outcome": "done", "skills": [], "nothing_because": "routine"}
    assert read(nothing).nothing_because == "routine"
    assert "nothing_because" in faults({**nothing, "nothing_because": " "})[0]


def test_a_patch_and_an_archive(skill: Skill) -> None:
    proof = {"evidence": [{"claim": "c", "steps": [4]}], "confidence": 0.8}
    patch = {
        "action": "patch",
        "name": skill.name,
        "base_hash": skill.content_hash,
        "old": "1. Run tests with make.",
        "new": "1. Run tests with nox.",
        **proof,
    }
    archive = {"action": "archive", "name": skill.name, "reason": "wrong", **proof}

    first, second = read({"skills": [patch, archive]}, skill).proposals

    assert isinstance(first, PatchSkill)
    assert (first.base_hash, first.new) == ("abc123", "1. Run tests with nox.")
    assert isinstance(second, ArchiveSkill)
    assert second.reason == "wrong"


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"base_hash": "stale"}, "has abc123"),
        ({"old": "never written"}, "does not occur in `run-the-tests`; its body is:\n## Steps"),
        ({"old": "Run tests"}, "occurs 2 times in `run-the-tests` (body lines 2, 3)"),
        ({"name": "unknown-skill"}, "no existing skill `unknown-skill`"),
        ({"new": "1. Run tests with make."}, "nothing would change"),
        ({"old": None}, "skills[0].old: a text is expected, not nothing"),
    ],
)
def test_a_patch_that_does_not_fit(skill: Skill, fields: Data, expected: str) -> None:
    patch = {
        "action": "patch",
        "name": skill.name,
        "base_hash": skill.content_hash,
        "old": "1. Run tests with make.",
        "new": "x",
        "evidence": [{"claim": "c", "steps": [4]}],
        "confidence": 0.8,
    }
    assert any(expected in fault for fault in faults(changed({"skills": [patch]}, **fields), skill))


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"name": "Bad Name"}, "skills[0].name"),
        ({"name": "a" * 65}, "skills[0].name"),
        ({"name": "../x"}, "skills[0].name"),
        ({"description": "x" * 1_025}, "skills[0].description: 1025 characters"),
        ({"description": ""}, "skills[0].description: is empty"),
        ({"body": None}, "skills[0].body: a text is expected, not nothing"),
        ({"body": ["a"]}, "skills[0].body: a text is expected, not a list"),
        ({"body": "---\nname: x\n---\n"}, "nothing stands after its front matter"),
        ({"evidence": []}, "skills[0].evidence: at least one claim"),
        ({"evidence": ["x"]}, "skills[0].evidence[0]: an object is expected, not a text"),
        ({"evidence": [{"claim": "c", "steps": [99]}]}, "there is no step 99; steps run from 1 to"),
        ({"evidence": [{"claim": "c", "steps": []}]}, "skills[0].evidence[0].steps: at least one"),
        ({"evidence": [{"claim": "c", "steps": ["often"]}]}, "not 'often'"),
        ({"confidence": None}, "skills[0].confidence"),
        ({"confidence": 7}, "skills[0].confidence: a number from 0 to 1, not 7"),
        ({"action": "delete"}, "skills[0].action: one of `create`, `guardrail`, `patch`, "),
        ({"action": "delete"}, "`archive`, not 'delete'"),
    ],
)
def test_each_fault_names_its_place(sound_answer: Data, fields: Data, expected: str) -> None:
    found = faults(changed(sound_answer, **fields))
    assert any(expected in fault for fault in found), found


def test_all_faults_are_named_at_once(sound_answer: Data) -> None:
    assert len(faults(changed(sound_answer, name="Bad Name", confidence=9, body=None))) == 3


@pytest.mark.parametrize("alias", ["content", "file_content", "markdown"])
def test_another_name_for_the_body(sound_answer: Data, alias: str) -> None:
    (proposal,) = read(changed(sound_answer, body=None, **{alias: "## Steps\n1. x"})).proposals
    assert isinstance(proposal, CreateSkill)
    assert proposal.body == "## Steps\n1. x\n"


def test_two_candidates_for_the_body_are_ambiguous(sound_answer: Data) -> None:
    found = faults(changed(sound_answer, body=None, content="a", file_content="b"))
    assert "skills[0].body" in found[0]


def test_front_matter_in_the_body_is_cut_off(sound_answer: Data) -> None:
    body = "---\nname: x\ndescription: y\n---\n\n## Steps\n1. x\n"
    (proposal,) = read(changed(sound_answer, body=body)).proposals
    assert isinstance(proposal, CreateSkill)
    assert proposal.body == "## Steps\n1. x\n"


def test_step_numbers_in_other_clothes(sound_answer: Data) -> None:
    evidence = [{"claim": "c", "steps": ["3", "#4", "S5", "7-9", 3, 10.0]}]
    (proposal,) = read(changed(sound_answer, evidence=evidence)).proposals
    assert proposal.evidence[0].steps == (3, 4, 5, 7, 8, 9, 10)


def test_a_doubtful_proposal_is_dropped_with_the_reason(sound_answer: Data) -> None:
    answer = read(changed(sound_answer, confidence=0.65))
    assert answer.proposals == ()
    assert answer.dropped == ("set-shop-currency: the reviewer's confidence 0.65 is below 0.7",)
    assert answer.nothing_because == answer.dropped[0]


@pytest.mark.parametrize(
    "wrap",
    [
        "{}",
        "```json\n{}\n```",
        "Here is my review:\n```\n{}\n```\nI hope it helps {{not json}}.",
        '{{"review": {}}}',
    ],
)
def test_the_answer_is_found_in_text(sound_answer: Data, wrap: str) -> None:
    text = wrap.format(json.dumps(sound_answer))
    answer = read_answer(ScriptedAnswer(content=text), last_step=LAST_STEP, neighbours=())
    assert [proposal.name for proposal in answer.proposals] == ["set-shop-currency"]


def test_raw_newlines_in_strings_are_read(sound_answer: Data) -> None:
    text = json.dumps(sound_answer).replace("\\n", "\n")
    answer = read_answer(ScriptedAnswer(content=text), last_step=LAST_STEP, neighbours=())
    assert len(answer.proposals) == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "the answer is empty"),
        ("I found nothing.", "no JSON object"),
        ('{"outcome": "x", "skills": [', "not valid JSON"),
        ('{"tool": "Bash"}', "no JSON object"),
        ('{"skills": [], "nothing_because": "a"} {"skills": [], "nothing_because": "b"}', "2 diff"),
    ],
)
def test_text_without_one_answer(text: str, expected: str) -> None:
    with pytest.raises(FaultyAnswerError, match=expected):
        read_answer(ScriptedAnswer(content=text), last_step=LAST_STEP, neighbours=())


def test_the_tool_is_called_once(sound_answer: Data) -> None:
    call = ScriptedToolCall("submit_review", sound_answer)
    with pytest.raises(FaultyAnswerError, match="2 times"):
        read_answer(ScriptedAnswer("", (call, call)), last_step=LAST_STEP, neighbours=())


def shared_answers() -> list[Path]:
    beside = Path(__file__).resolve().parents[2].parent / "shared"
    folder = Path(os.environ.get("SKILL_LEARNER_SHARED", beside)) / "review" / "answers"
    return sorted(folder.glob("*.json"))


@pytest.mark.skipif(not shared_answers(), reason="the recorded answers are not beside the repo")
@pytest.mark.parametrize("path", shared_answers(), ids=lambda path: path.stem)
def test_recorded_answers_of_a_strong_model_are_read(path: Path) -> None:
    data = json.loads(path.read_text(encoding="utf-8"))
    answer = read_answer(ScriptedAnswer(content=json.dumps(data)), last_step=1_000, neighbours=())
    kept = [item["name"] for item in data["skills"] if item["confidence"] >= 0.7]
    assert [proposal.name for proposal in answer.proposals] == kept
    assert bool(answer.nothing_because) == (not kept)
    assert len(answer.dropped) == len(data["skills"]) - len(kept)
