"""candidates, diff, approve, reject, history, undo, curate, pin and show --evidence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from skill_learner.config import SkillLearnerConfig
from skill_learner.learning.fingerprint import fingerprints
from skill_learner.models import ArchiveSkill, Claim, PatchSkill, Proof, ProposalSource, Skill
from skill_learner.skills.library import SkillLibrary
from skill_learner.wiring import build_library

Run = Callable[..., Result]
Add = Callable[..., Skill]

BODY = "## Steps\n1. Run `make`.\n2. Look at the log.\n"


@pytest.fixture
def library(project: Path) -> SkillLibrary:
    return build_library(SkillLearnerConfig.load(project))


@pytest.fixture
def waiting(library: SkillLibrary, add_skill: Add) -> str:
    """An active skill with a patch that waits; the proposal's id."""
    skill = add_skill("build-it", body=BODY)
    patch = PatchSkill(
        skill.name, skill.content_hash, "1. Run `make`.", "1. Run `make all`.",
        (Claim("make all passed", (3,)),),
    )  # fmt: skip
    parked = library.proposals.park(
        patch,
        fingerprints(patch),
        ProposalSource("llm:x", "s1", skill.scope),
        why=("unrelated to build-it",),
        proofs=[Proof("make all passed", "s1", 3, "t.jsonl:9", "ok", "d" * 64)],
    )
    assert parked is not None
    return parked.id


def test_what_waits_is_listed_with_its_reason(run: Run, waiting: str, add_skill: Add) -> None:
    add_skill("note-one", "candidate")
    assert "1 for you to decide: skill-learner candidates" in run("status").stdout
    listed = run("candidates").stdout
    assert waiting in listed
    assert "unrelated to build-it" in listed
    assert "note-one" in listed


def test_a_proposal_is_shown_and_applied_by_the_skills_name(
    run: Run, waiting: str, library: SkillLibrary
) -> None:
    shown = run("diff", "build-it").stdout
    assert "-1. Run `make`." in shown
    assert "+1. Run `make all`." in shown
    run("approve", "build-it")
    assert "make all" in library.get("build-it").body
    assert "nothing waits" in run("candidates").stdout
    evidence = run("show", "build-it", "--evidence").stdout
    assert "make all passed" in evidence
    assert "session s1, step 3 (t.jsonl:9)" in evidence


def test_a_rejected_proposal_is_not_made_again(
    run: Run, waiting: str, library: SkillLibrary
) -> None:
    before = library.get("build-it")
    (parked,) = library.proposals.all()
    run("reject", waiting, "--why", "we use make")
    assert library.proposals.all() == []
    assert library.get("build-it") == before
    source = ProposalSource("llm:x", "s2", "p")
    again = library.proposals.park(parked.proposal, parked.prints, source, why=("again",))
    assert again is None
    assert library.proposals.decisions()[-1]["why"] == "we use make"


def test_a_rejected_candidate_is_archived_and_remembered_until_approved(
    run: Run, add_skill: Add, library: SkillLibrary
) -> None:
    add_skill("note-one", "candidate")
    run("reject", "note-one", "--why", "wrong")
    assert library.get("note-one").state == "archived"
    assert library.proposals.refused()
    run("approve", "note-one")
    assert library.get("note-one").state == "active"
    assert not library.proposals.refused()


def test_a_patch_of_the_users_own_file_is_applied_at_their_word_only(
    run: Run, library: SkillLibrary, waiting: str
) -> None:
    path = Path(library.get("build-it").path)
    theirs = path.read_bytes().replace(b"Look at", b"Read")
    path.write_bytes(theirs)
    run("approve", "build-it")
    assert path.read_bytes() == theirs.replace(b"Run `make`", b"Run `make all`")
    assert not library.get("build-it").ours
    run("undo", "build-it", "--overwrite-edits")
    assert b"make all" not in path.read_bytes()


def test_a_proposal_that_no_longer_fits_changes_nothing(
    run: Run, library: SkillLibrary, waiting: str
) -> None:
    skill = library.get("build-it")
    library.patch(
        PatchSkill(skill.name, skill.content_hash, "Run `make`", "Run `ninja`", ()),
        origin="llm", session="s9",
    )  # fmt: skip
    before = library.get("build-it")
    result = run("approve", waiting, code=4)
    assert "does not stand in its body" in result.output
    assert library.get("build-it") == before
    assert "cannot be applied" in run("diff", waiting).stdout


def test_history_and_undo_bring_back_the_bytes(
    run: Run, run_json: Callable[..., Any], library: SkillLibrary, waiting: str
) -> None:
    first = Path(library.get("build-it").path).read_bytes()
    run("approve", waiting)
    changed = Path(library.get("build-it").path).read_bytes()
    assert changed != first
    assert [one["action"] for one in run_json("history", "build-it")] == ["create", "patch"]
    assert "+1. Run `make all`." in run("diff", "build-it").stdout
    run("undo", "build-it")
    assert Path(library.get("build-it").path).read_bytes() == first
    run("reject", "build-it")
    run("undo")
    assert library.get("build-it").state == "active"
    run("undo", "build-it", "--to", "2")
    assert Path(library.get("build-it").path).read_bytes() == changed
    assert "no version 77" in run("undo", "build-it", "--to", "77", code=4).output


def test_curate_proposes_and_approve_merges_into_what_is_kept(
    run: Run, add_skill: Add, library: SkillLibrary
) -> None:
    lines = "".join(f"{n}. Run step number {n} of the long release list.\n" for n in range(1, 9))
    add_skill("release-all", body=f"## Steps\n{lines}", description="Use when releasing all.")
    extra = "## Pitfalls\n- `twine` wants a token of its own.\n"
    add_skill("release-everything", body=f"## Steps\n{lines}\n{extra}",
              description="Use when releasing everything.")  # fmt: skip
    add_skill("bake-bread", body="Flour, water, salt.\n", description="Use when baking.")
    assert "merge" in run("curate", "--dry-run").stdout
    assert library.proposals.all() == []
    run("curate")
    (parked,) = library.proposals.all()
    run("approve", parked.id)
    states = {one.name: one.state for one in library.list(("active", "candidate", "archived"))}
    assert states["bake-bread"] == "active"
    kept = next(name for name, state in states.items() if state == "active" and "release" in name)
    gone = next(name for name, state in states.items() if state == "archived")
    assert "twine" in library.get(kept).body
    assert f"merged into {kept}" in library.history(gone)[-1].why
    run("undo", gone)
    assert library.get(gone).state == "active"


def test_a_pinned_skill_is_never_absorbed(run: Run, add_skill: Add, library: SkillLibrary) -> None:
    lines = "".join(f"{n}. Run step number {n} of the long release list.\n" for n in range(1, 9))
    for name in ("release-all", "release-everything"):
        add_skill(name, body=f"## Steps\n{lines}", description="Use when releasing.")
    for name in ("release-all", "release-everything"):
        run("pin", name)
    assert "nothing to merge" in run("curate").stdout
    run("pin", "release-all", "--off")
    assert run("pin").stdout.strip() == "release-everything"
    assert "release-everything" in run("curate", "--dry-run").stdout


def test_a_merge_that_names_a_missing_skill_touches_nothing(
    library: SkillLibrary, add_skill: Add
) -> None:
    from skill_learner.errors import LibraryError
    from skill_learner.models import MergeSkills
    from skill_learner.user_decisions import merge

    add_skill("release-all")
    for wish in (
        MergeSkills("umbrella", ("release-all",), "one home"),
        MergeSkills("release-all", ("no-such",), "one home"),
        MergeSkills("release-all", ("release-all",), "one home"),
    ):
        with pytest.raises(LibraryError):
            merge(library, wish)
    assert library.get("release-all").state == "active"


def test_names_that_mean_several_proposals_are_refused(
    run: Run, waiting: str, library: SkillLibrary
) -> None:
    wish = ArchiveSkill("build-it", "old", ())
    library.proposals.park(wish, ["archive"], ProposalSource("curate", "", "p"), why=("old",))
    assert "2 proposals wait" in run("approve", "build-it", code=4).output
    run("approve", waiting)
    assert [one.kind for one in library.proposals.all()] == ["archive"]


@pytest.mark.parametrize("verb", ["approve", "reject"])
def test_one_name_that_is_not_clear_leaves_all_as_they_are(
    run: Run, waiting: str, add_skill: Add, library: SkillLibrary, verb: str
) -> None:
    add_skill("cand-one", "candidate")
    wish = ArchiveSkill("build-it", "old", ())
    library.proposals.park(wish, ["archive"], ProposalSource("curate", "", "p"), why=("old",))
    assert "2 proposals wait" in run(verb, "cand-one", "build-it", code=4).output
    assert library.get("cand-one").state == "candidate"
    assert len(library.proposals.all()) == 2
    run(verb, "cand-one", waiting, waiting)
    assert library.get("cand-one").state == ("active" if verb == "approve" else "archived")


def test_what_was_approved_before_one_that_no_longer_fits_is_published(
    run: Run, project: Path, waiting: str, add_skill: Add, library: SkillLibrary
) -> None:
    run("init", "--target", "claude-code")
    add_skill("cand-one", "candidate")
    path = Path(library.get("build-it").path)
    path.write_text(path.read_text().replace("Run `make`", "Type `make`"))
    run("approve", "cand-one", waiting, code=4)
    assert library.get("cand-one").state == "active"
    assert (project / ".claude" / "skills" / "cand-one").is_symlink()
