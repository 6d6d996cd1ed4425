"""Things about the surroundings of an install that the user should know."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from skill_learner.errors import InstallError
from skill_learner.install.json_scanner import read_json_text
from skill_learner.install.places import Places, places_for, read_if_there, scopes_of
from skill_learner.install.records import InstallRecord
from skill_learner.project import worktree_root
from skill_learner.targets.protocol import Target


def install_notes(target: Target, places: Places, others: Iterable[InstallRecord]) -> Iterator[str]:
    """others: the records of all other installs."""
    note = below_repository_note(target, places)
    if note:
        yield note
    if target.APPROVAL:
        yield target.APPROVAL
    for path in disabled_in(target, places):
        yield f"`disableAllHooks` is true in {path}: no hook runs until it is taken out."
    for other in others:
        here = other.scope == "user" or places.scope == "user" or other.root == str(places.root)
        if other.target == target.NAME and here:
            where = "for all projects" if other.scope == "user" else f"in {other.root}"
            yield (
                f"Also installed {where} (scope {other.scope}); an event that fires both is "
                "recorded once."
            )


def below_repository_note(target: Target, places: Places) -> str:
    """Which sessions an install in a part of a repository reaches."""
    if places.scope == "user":
        return ""
    top = worktree_root(places.root)
    if top == places.root:
        return ""
    reach = "of the folder they are started in only"
    where = str(places.root)
    if target.READS_ABOVE:
        reach = "of the folder they are started in and of those above it"
        where = f"{places.root} or below"
    return (
        f"{places.root} lies below the top of its repository, {top}. Sessions read the settings "
        f"{reach}: hooks fire for sessions started in {where}, not elsewhere in the repository. "
        "`init --user` covers every folder."
    )


def disabled_in(target: Target, places: Places) -> list[str]:
    """Settings files that apply to this place and switch all hooks off."""
    found = []
    for scope in scopes_of(target):
        if places.scope == "user" and scope != "user":
            continue
        path = places_for(target, scope, places.root).settings
        try:
            data = read_if_there(path) or b""
            value = read_json_text(data, path).value if data.strip() else {}
        except InstallError:
            continue  # reported where that file is written or checked
        if isinstance(value, dict) and value.get("disableAllHooks") is True:
            found.append(str(path))
    return found
