"""What the lenient reader makes of odd files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skill_learner.errors import SkillFormatError
from skill_learner.skills.frontmatter import READ_CAP, ParsedSkill, parse
from skill_learner.skills.validation import validate


def read(text: str) -> ParsedSkill:
    return parse(text.encode("utf-8"), "skills/x/SKILL.md")


def test_plain_file() -> None:
    parsed = read("---\nname: x\ndescription: Does it.\n---\n# Body\n")
    assert (parsed.name, parsed.description, parsed.body) == ("x", "Does it.", "# Body\n")
    assert parsed.warnings == ()


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("Detect (IP: 1.2.3.4) hosts", "Detect (IP: 1.2.3.4) hosts"),
        ("@defer and more", "@defer and more"),
        ("`code` first", "`code` first"),
        ("*emphasis first", "*emphasis first"),
        ("**/*.ts files", "**/*.ts files"),
        ("&anchor like", "&anchor like"),
        (", comma first", ", comma first"),
        ("%percent", "%percent"),
        ("- dash: list", "- dash: list"),
        ('"quoted" then more', '"quoted" then more'),
        ('"never closed', "never closed"),
        ("first line\nsecond at the margin", "first line second at the margin"),
        ("{{PLACEHOLDER}}", "{{PLACEHOLDER}}"),
    ],
)
def test_value_that_is_not_yaml_is_its_text(written: str, text: str) -> None:
    parsed = read(f"---\nname: x\ndescription: {written}\nlicense: MIT\n---\nbody\n")
    assert parsed.description == text
    assert (parsed.name, parsed.license) == ("x", "MIT")
    assert any("line 3: description" in warning for warning in parsed.warnings)


@pytest.mark.parametrize(
    "raw", ["1.10", "2026-01-01", "yes", "0x1F", "1e3", "true", "12:30:00", "007", "1_000"]
)
def test_scalars_keep_their_text(raw: str) -> None:
    parsed = read(
        f"---\nname: {raw}\ndescription: d\nversion: {raw}\nmetadata:\n  v: {raw}\n---\nb"
    )
    assert (parsed.name, parsed.fields["version"], parsed.metadata["v"]) == (raw, raw, raw)


def test_byte_order_mark_and_crlf_are_read_through() -> None:
    parsed = parse(b"\xef\xbb\xbf---\r\nname: x\r\ndescription: d\r\n---\r\nbody\r\n")
    assert (parsed.name, parsed.description, parsed.body) == ("x", "d", "body\r\n")


def test_utf16_is_read_with_a_warning() -> None:
    parsed = parse("---\nname: x\ndescription: d\n---\nb\n".encode("utf-16"))
    assert parsed.name == "x"
    assert "UTF-16" in parsed.warnings[0]


def test_keys_that_break_other_readers() -> None:
    text = "---\nname: x\ndescription: d\nhandler: h\ncontent: c\n1: one\n---\nb\n"
    parsed = read(text)
    assert parsed.fields["1"] == "one"
    assert read("---\nname: x\n? [a, b]\n: c\n---\nb\n").name.startswith("x")
    assert (parsed.fields["handler"], parsed.fields["content"]) == ("h", "c")
    assert parsed.name == "x"


def test_no_front_matter_takes_the_first_paragraph() -> None:
    parsed = read("# Title\n\nDoes a thing\nin two lines.\n\nMore.\n")
    assert parsed.name == ""
    assert parsed.description == "Does a thing in two lines."
    assert "no front matter" in parsed.warnings


@pytest.mark.parametrize("front", ["", "# only a comment\n", "just words\n", "- a\n- b\n", "~\n"])
def test_front_matter_without_keys(front: str) -> None:
    if front in {"just words\n", "- a\n- b\n"}:
        assert "the front matter is not a map of keys" in read(f"---\n{front}---\nText.\n").warnings
    parsed = read(f"---\n{front}---\nText.\n")
    assert parsed.description == "Text."
    assert parsed.name == ""


def test_front_matter_below_something_else_is_named() -> None:
    parsed = read("<!-- note -->\n---\nname: x\ndescription: d\n---\nb\n")
    assert any("line 2 is not at the top" in warning for warning in parsed.warnings)


def test_duplicate_keys_warn_and_the_last_counts() -> None:
    parsed = read("---\nname: x\ndescription: a\ndescription: b\n---\nb\n")
    assert parsed.description == "b"
    assert parsed.lost == [
        "line 4: key 'description' occurs twice; the last counts, so take the other out"
    ]


@pytest.mark.parametrize(
    ("metadata", "told"),
    [
        ("\n  owner: a\n  owner: b", "line 6: key 'metadata.owner' occurs twice"),
        ('\n  owner: "a"\n  "owner": "b"', "line 6: key 'metadata.owner' occurs twice"),
        (" {owner: a, owner: b}", "line 4: key 'metadata.owner' occurs twice"),
        (' {"owner": "\\ud83d\\ude00", "owner": "b"}', "metadata is not a map of keys"),
        ("\n  a:\n    b: 1\n    b: 2", "line 7: key 'metadata.a.b' occurs twice"),
        ("\n  a:\n  - {b: 1, b: 2}", "line 6: key 'metadata.a.b' occurs twice"),
        ("\n  owner: a\n  owner: b\nnote: a: b", "line 6: key 'metadata.owner' occurs twice"),
        (" {}\nmetadata:\n  owner: b\nnote: a: b", "line 5: key 'metadata' occurs twice"),
        ("\n  a: {b: 1}\n  c: {b: 2}\nhooks: {x: 1, x: 2}", ""),
    ],
)
def test_a_key_that_stands_twice_in_metadata_is_told_with_its_line(
    metadata: str, told: str
) -> None:
    parsed = read(f"---\nname: x\ndescription: d\nmetadata:{metadata}\n---\nb\n")
    assert [note for note in parsed.lost if note.startswith(told)] if told else not parsed.lost


def test_dashes_in_values_and_rules_in_the_body_do_not_cut() -> None:
    parsed = read("---\nname: x\ndescription: a --- b\n---\nabove\n\n---\n\nbelow\n")
    assert parsed.description == "a --- b"
    assert parsed.body == "above\n\n---\n\nbelow\n"


def test_second_front_matter_stays_in_the_body() -> None:
    parsed = read("---\nname: x\ndescription: d\n---\n\n---\nname: y\n---\nb\n")
    assert (parsed.name, parsed.body) == ("x", "\n---\nname: y\n---\nb\n")
    assert any("second front matter" in warning for warning in parsed.warnings)


@pytest.mark.parametrize("nothing", ["", " ~", " null", ' ""', " # comment"])
def test_empty_description_is_told_apart_from_a_missing_one(nothing: str) -> None:
    parsed = read(f"---\nname: x\ndescription:{nothing}\n---\nText.\n")
    assert parsed.description == ""
    assert "the description is empty" in parsed.warnings


def test_nested_metadata_is_kept_as_json() -> None:
    parsed = read('---\nname: x\ndescription: d\nmetadata:\n  a: {b: ["1", two]}\n---\nb\n')
    assert parsed.metadata == {"a": '{"b": ["1", "two"]}'}


def test_json_that_libyaml_refuses_is_read() -> None:
    front = 'name: x\ndescription: d\nmetadata: {"e": {"emoji": "\\uD83E\\uDDEC"}}\n'
    assert read(f"---\n{front}---\nb\n").metadata == {"e": '{"emoji": "🧬"}'}


def test_hidden_characters_are_named() -> None:
    assert "hidden" in " ".join(read("---\nname: x\ndescription: a\u200bb\n---\nb\n").warnings)


def test_alias_bomb_is_not_expanded() -> None:
    levels = "".join(f"k{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12))
    parsed = read(f"---\nname: x\ndescription: d\nk0: &a0 [lol]\n{levels}---\nb\n")
    assert parsed.name == "x"
    assert len(str(parsed.fields)) < 10_000


def test_deep_nesting_is_survived() -> None:
    parsed = read("---\nname: x\ndescription: d\nk: " + "[" * 20_000 + "\n---\nb\n")
    assert parsed.name == "x"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "x/SKILL.md:1: the file is empty"),
        (b" \n\n", "x/SKILL.md:1: the file is empty"),
        (b"---\nname: x\n", "x/SKILL.md:1: the front matter opened by `---` is never closed"),
        (b"---\n<<<<<<< HEAD\nname: x\n=======\n---\n", "x/SKILL.md:2: merge conflict"),
        (b"---\n: : :\n  }{\n---\nbody\n", "x/SKILL.md:2: the front matter is not YAML"),
        (b"x" * (READ_CAP + 1), "more than"),
    ],
)
def test_unusable_files_are_refused_with_file_and_line(data: bytes, message: str) -> None:
    with pytest.raises(SkillFormatError) as caught:
        parse(data, "x/SKILL.md")
    assert message in caught.value.message


@given(st.binary(max_size=300))
def test_any_bytes_give_a_skill_or_a_format_error(data: bytes) -> None:
    try:
        parsed = parse(data)
    except SkillFormatError:
        return
    assert isinstance(parsed.description, str)


@given(st.text(alphabet=st.sampled_from("ab:-#*&!@'\"|>[]{}, \n\t`%?~x"), max_size=120))
def test_any_front_matter_gives_a_skill_or_a_format_error(front: str) -> None:
    try:
        parsed = read(f"---\nname: x\n{front}\n---\nbody\n")
    except SkillFormatError:
        return
    assert isinstance(parsed.name, str)


# -- real files --------------------------------------------------------------------------------

SHARED = Path(
    os.environ.get("SKILL_LEARNER_SHARED", Path(__file__).resolve().parents[3] / "shared")
)
ODD_FILES = SHARED / "skill-files"

needs_odd_files = pytest.mark.skipif(
    not ODD_FILES.is_dir(), reason="the folder of real skill files is not here"
)


def odd(number: str) -> tuple[ParsedSkill, list[str]]:
    (file,) = (path for path in (ODD_FILES / number).rglob("*") if path.is_file())
    parsed = parse(file.read_bytes(), str(file))
    return parsed, [*parsed.warnings, *validate(parsed, file.parent.name)]


@needs_odd_files
def test_real_files_are_read_or_refused_as_they_should_be() -> None:
    refused = set()
    for folder in sorted(path for path in ODD_FILES.iterdir() if path.is_dir()):
        try:
            odd(folder.name)
        except SkillFormatError:
            refused.add(folder.name)
    assert refused == {"15", "31"}


@needs_odd_files
@pytest.mark.parametrize(
    ("number", "warning"),
    [
        ("01", "description is not valid YAML"),
        ("03", "metadata is not valid YAML"),
        ("04", "globs is not valid YAML"),
        ("06", "description is not valid YAML"),
        ("08", "description is not valid YAML"),
        ("10", "description is not valid YAML"),
        ("12", "allowed-tools is not valid YAML"),
        ("16", "the front matter is empty"),
        ("17", "the front matter is empty"),
        ("18", "no front matter"),
        ("20", "not at the top"),
        ("23", "second front matter"),
        ("32", "occurs twice"),
        ("33", "no text below"),
        ("34", "no name"),
        ("37", "the description is empty"),
        ("38", "the description is empty"),
        ("39", "no description"),
        ("40", "longer than 1024"),
        ("43", "angle brackets"),
        ("47", "hidden characters"),
        ("50", "lower-case"),
        ("51", "lower-case"),
        ("52", "lower-case"),
        ("53", "single hyphens"),
        ("54", "lower-case"),
        ("55", "lower-case"),
        ("57", "at most 64"),
        ("58", "differs from its folder"),
        ("59", "reserves"),
        ("65", "compatibility is not a text"),
        ("67", "at most 500"),
        ("72", "template"),
        ("76", "keys outside the specification"),
    ],
)
def test_real_file_is_told_its_oddity(number: str, warning: str) -> None:
    _, notes = odd(number)
    assert any(warning in note for note in notes), notes


@needs_odd_files
@pytest.mark.parametrize(
    "number", ["00", "14", "26", "27", "28", "29", "35", "42", "61", "68", "69"]
)
def test_real_file_loads_without_a_parse_warning(number: str) -> None:
    parsed, _ = odd(number)
    assert parsed.warnings == ()
    assert parsed.name
    assert parsed.description
    assert parsed.body.strip()


@needs_odd_files
def test_real_files_keep_scalars_as_text() -> None:
    assert odd("35")[0].name == "yes"
    assert odd("61")[0].metadata["version"].count(".") == 2
    assert isinstance(odd("62")[0].fields["version"], str)
    assert odd("24")[0].name == "academic_scientific_polishing"
