"""The canonical form: valid by the specification, and returned unchanged by every reader."""

from __future__ import annotations

from pathlib import Path

import frontmatter as python_frontmatter
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from skill_spec import spec_faults

from skill_learner.errors import SkillFormatError
from skill_learner.skills.canonical_front import read_canonical
from skill_learner.skills.front_matter_text import split_text
from skill_learner.skills.frontmatter import parse, render
from skill_learner.skills.validation import description_faults, name_faults

NAMES = st.from_regex(r"[a-z0-9]{1,8}(-[a-z0-9]{1,8}){0,3}", fullmatch=True).filter(
    lambda name: not name_faults(name)
)
TEXTS = st.text(max_size=200) | st.text(
    alphabet=st.sampled_from("-:#*&\"'\\|>{}[]%@`\n\t ab\x7f\x85\u2028\ufeff🧬"), max_size=60
)
DESCRIPTIONS = TEXTS.filter(lambda text: not description_faults(text))
METADATA = st.dictionaries(
    st.from_regex(r"[a-z][a-z0-9]{0,6}(-[a-z0-9]{1,6}){0,2}", fullmatch=True), TEXTS, max_size=5
)


@given(NAMES, DESCRIPTIONS, TEXTS, METADATA)
def test_what_is_written_is_read_back(
    name: str, description: str, body: str, metadata: dict[str, str]
) -> None:
    data = render(name, description, body, metadata=metadata, license="MIT")
    parsed = parse(data)
    assert (parsed.name, parsed.description) == (name, description.strip())
    assert (parsed.body, parsed.license, parsed.metadata) == (body, "MIT", metadata)
    again = render(
        parsed.name, parsed.description, parsed.body, metadata=parsed.metadata, license="MIT"
    )
    assert again == data


@given(NAMES, DESCRIPTIONS, METADATA)
def test_the_quick_reader_and_yaml_agree(
    name: str, description: str, metadata: dict[str, str]
) -> None:
    front = split_text(render(name, description, "", metadata=metadata).decode(), "x").front
    assert front is not None
    quick = read_canonical(front)
    assert quick is not None
    assert quick == yaml.load(front, Loader=yaml.BaseLoader)
    if hasattr(yaml, "CBaseLoader"):
        assert quick == yaml.load(front, Loader=yaml.CBaseLoader)


KEYS = st.sampled_from("name: |a-b: |metadata:|  a: |  b: |no: |# |- |   c: |name:|".split("|"))
PIECES = [*"x\"\\\t\r' \x85\u2028é\x00\x7f:#|\ufeff", "no", "\\u002d", "\n  "]
VALUES = st.lists(st.sampled_from(PIECES), max_size=4).map("".join)
QUOTED = VALUES.map(lambda text: f'"{text}"')


@given(st.lists(st.tuples(KEYS, VALUES | QUOTED).map("".join), max_size=5).map("\n".join))
@settings(max_examples=500)
def test_what_the_quick_reader_reads_of_any_front_matter_yaml_reads_too(text: str) -> None:
    front = f"{text}\n"
    quick = read_canonical(front)
    if quick is not None:
        assert quick == _with_map(yaml.load(front, Loader=yaml.BaseLoader))


def _with_map(loaded: dict[str, object]) -> dict[str, object]:
    """An empty map is written as nothing, which YAML reads as an empty text."""
    return {key: {} if (key, value) == ("metadata", "") else value for key, value in loaded.items()}


@given(NAMES, DESCRIPTIONS, TEXTS, METADATA)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
def test_the_validator_of_the_specification_accepts_it(
    tmp_path: Path, name: str, description: str, body: str, metadata: dict[str, str]
) -> None:
    folder = tmp_path / name
    folder.mkdir(exist_ok=True)
    (folder / "SKILL.md").write_bytes(
        render(name, description, body, metadata=metadata, license="a --- b")
    )
    assert spec_faults(folder) == []


def test_another_reader_understands_it() -> None:
    data = render("x", "Use when: a --- b # c", "\nBody\n", metadata={"skill-learner-state": "1"})
    post = python_frontmatter.loads(data.decode())
    assert post["description"] == "Use when: a --- b # c"
    assert post["metadata"] == {"skill-learner-state": "1"}
    assert post.content == "Body"


@pytest.mark.parametrize(
    "name", ["yes", "no", "on", "y", "true", "12", "1e3", "0x1f", "2026-01-01"]
)
def test_names_that_yaml_takes_for_something_else_stay_text(name: str) -> None:
    data = render(name, "d", "b")
    assert f'name: "{name}"'.encode() in data
    assert parse(data).name == name


def test_lone_surrogates_are_replaced() -> None:
    parsed = parse(render("x", "a\ud800", "b\udfff"))
    assert (parsed.description, parsed.body) == ("a\ufffd", "b\ufffd")


@pytest.mark.parametrize(
    ("name", "description", "metadata", "fault"),
    [
        ("Upper", "d", {}, "lower-case"),
        ("a--b", "d", {}, "single hyphens"),
        ("-a", "d", {}, "single hyphens"),
        ("é", "d", {}, "ASCII"),
        ("a" * 65, "d", {}, "at most 64"),
        ("con", "d", {}, "Windows"),
        ("../x", "d", {}, "ASCII"),
        ("x", " ", {}, "description is empty"),
        ("x", "~", {}, "description is empty"),
        ("x", "d" * 1025, {}, "at most 1024"),
        ("x", "d", {"a: b": "c"}, "metadata key"),
        ("x", "d", {"a---b": "c"}, "metadata key"),
    ],
)
def test_what_breaks_the_specification_is_not_written(
    name: str, description: str, metadata: dict[str, str], fault: str
) -> None:
    with pytest.raises(SkillFormatError, match=fault):
        render(name, description, "b", metadata=metadata)
