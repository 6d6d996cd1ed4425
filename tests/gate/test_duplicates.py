"""Near-duplicates: how near, and the patch that a duplicate becomes."""

from __future__ import annotations

from dataclasses import replace

from skill_learner.learning.duplicates import NEAR, as_patch, nearest, similarity
from skill_learner.models import Claim, CreateSkill, Skill

BODY = """## When
The release of the shop hangs at the upload.

## Steps
1. Run `make dist` in a clean tree.
2. Check the wheel with `twine check dist/*`.

```sh
export INDEX=internal
twine upload dist/*
```

## Check
The index shows the new version.
"""


def _skill(body: str = BODY) -> Skill:
    return Skill("release-shop", "Use when the shop is released", body, "active", "p", "p", "h",
                 True)  # fmt: skip


def _draft(body: str, description: str = "Use when releasing the shop") -> CreateSkill:
    return CreateSkill("shop-release-upload", description, body, (Claim("c", (1,)),), 0.9)


def test_the_same_thing_in_other_words_is_near_and_another_thing_is_not() -> None:
    told = BODY.replace("hangs at the upload", "stops while uploading").replace("clean", "fresh")
    assert nearest(_draft(told), [_skill()])[1] >= NEAR
    other = "## Steps\n1. Knead flour, water and salt for ten minutes.\n2. Bake it hot.\n"
    near, score = nearest(_draft(other, "Use when bread is baked"), [_skill()])
    assert score < NEAR
    assert near is None or near.name == "release-shop"


def test_short_texts_without_runs_are_told_by_their_words() -> None:
    one = ("a", "Use when a cache is stale", "Delete it.\n")
    other = ("b", "Use when a port is taken", "Stop it.\n")
    assert similarity(one, other) < NEAR


def test_a_duplicate_becomes_a_patch_with_what_is_new_below_its_heading() -> None:
    more = BODY.replace("## Check", "3. Tag with `git tag -s`, never by hand.\n\n## Check")
    patch = as_patch(_draft(more), _skill())
    assert patch is not None
    assert BODY.count(patch.old) == 1
    assert patch.new.startswith(patch.old)
    assert "git tag -s" in patch.new
    assert "make dist" not in patch.new.removeprefix(patch.old)
    patched = _skill(BODY.replace(patch.old, patch.new))
    assert as_patch(_draft(more), patched) is None


def test_blocks_of_code_are_added_whole() -> None:
    block = "```sh\nexport PROXY=corporate\nmake dist publish\n```"
    patch = as_patch(_draft(f"## Pitfalls\n{block}\n"), _skill())
    assert patch is not None
    assert block in patch.new


def test_nothing_new_or_no_unique_place_gives_no_patch() -> None:
    assert as_patch(_draft(BODY), _skill()) is None
    twice = replace(_skill(), body="Run it.\nRun it.\n")
    assert as_patch(_draft("## Steps\n1. Something else entirely here.\n"), twice) is None
