from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skill_learner.skills.validation import (
    folder_faults,
    lint_description,
    name_faults,
    shorten,
    slugify_name,
)


@given(st.text(max_size=150))
def test_any_text_gives_a_valid_name(text: str) -> None:
    slug = slugify_name(text)
    assert name_faults(slug) == []
    assert folder_faults(slug) == []
    assert slugify_name(slug) == slug


@pytest.mark.parametrize(
    ("text", "slug"),
    [
        ("Fix Logger Build!", "fix-logger-build"),
        ("don't_retry", "dont-retry"),
        ("Café crème", "cafe-creme"),
        ("a--b__c", "a-b-c"),
        ("../../etc/passwd", "etc-passwd"),
    ],
)
def test_slugs_read_like_their_text(text: str, slug: str) -> None:
    assert slugify_name(text) == slug


@pytest.mark.parametrize("text", ["修复构建", "сборка", "", "nul", "COM1", "x" * 80, "null"])
def test_texts_that_lose_something_get_a_hash(text: str) -> None:
    assert slugify_name(text)[-9] == "-"
    assert slugify_name(text) != slugify_name(text + "の")


def test_long_names_are_cut_at_a_word() -> None:
    assert shorten("alpha-beta-gamma", 12) == "alpha-beta"
    assert shorten("alpha", 12) == "alpha"


@pytest.mark.parametrize(
    "name",
    [
        *("", ".", "..", "../x", "a/b", "a\\b", "/etc", "C:x", ".records", "nul", "Com1.txt"),
        *("a\0b", "x.", "a ", "a\nb", "n" * 201),
    ],
)
def test_unsafe_folder_names(name: str) -> None:
    assert folder_faults(name)


@pytest.mark.parametrize("name", ["fix-build", "My Skill", "数据集", "a.b", "x_y"])
def test_folders_that_users_make(name: str) -> None:
    assert folder_faults(name) == []


def test_a_description_that_does_not_trigger_is_told_why() -> None:
    assert lint_description("Use when `go build` fails with undefined: Logger") == []
    assert any(
        "when to use" in advice for advice in lint_description("Logger helper functions here")
    )
    assert any("too short" in advice for advice in lint_description("Use it when"))
    assert any("template" in advice for advice in lint_description("TODO: use when needed, really"))
