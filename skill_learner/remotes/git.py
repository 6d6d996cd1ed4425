"""A remote that is a git repository.

Works on a bare copy of its own, without a work tree: nothing of the repository is ever checked out,
so its links, filters and hooks do nothing here, and no tree of the user's can be dirty. The copy is
shallow at first and can be thrown away at any time.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from skill_learner.errors import RemoteError, RemoteUnavailableError
from skill_learner.remotes import git_copy, protocol
from skill_learner.remotes import git_layout as layout
from skill_learner.remotes.counters import is_countable
from skill_learner.remotes.git_address import address
from skill_learner.remotes.git_program import GitFailedError, GitProgram
from skill_learner.remotes.git_push import OWN_BRANCHES, GitPush, Refusal
from skill_learner.remotes.git_reading import Reading, check_trees
from skill_learner.remotes.protocol import CounterKey, OutgoingSkill, Pulled, Pushed, RemoteSkill
from skill_learner.remotes.settings import RemoteSettings

_FETCHED = "refs/remotes/origin/shared"
_FETCH = ("--quiet", "--no-tags", "--no-write-fetch-head")
_FETCH_TRIES = 3
_MANY = 1500
"""Skills from which on it pays to use the first ones before the last are read."""


def open_remote(settings: RemoteSettings, folder: Path, machine: str) -> GitRemote:
    return GitRemote(settings, folder / f"{settings.name}.git", machine)


class GitRemote:
    def __init__(self, settings: RemoteSettings, cache: Path, machine: str) -> None:
        self._address = address(settings.url)
        self._branch = settings.branch
        self._ref = f"refs/heads/{settings.branch}"
        self._refspec = f"+{self._ref}:{_FETCHED}"
        self._machine = machine
        self._git = GitProgram(cache)
        self._to = GitPush(self._git, self._address, self._branch, machine)
        self._head = ""

    def pull(self, cursor: str, foretell: protocol.Foretell = protocol.unheard) -> Pulled:
        head = self._remote_head()
        if not head:
            self._head = ""
            if cursor:
                raise RemoteError(
                    f"the branch {self._branch} is gone at {self._address}",
                    "Push it again from a clone, or name another one with `branch:`.",
                )
            if self._branch == RemoteSettings.branch:
                self._require_no_other()
            return Pulled("")
        if head == cursor:
            self._head = self._head or (head if self._has(head) else "")
            if self._head == head:
                return Pulled(cursor)
        try:
            return self._pulled(cursor, head, foretell)
        except GitFailedError:  # objects of the copy are damaged or gone
            self._forget_copy()
        try:
            return self._pulled(cursor, head, foretell)
        except GitFailedError as error:
            raise self._unreadable(error) from error

    def _pulled(self, cursor: str, head: str, foretell: protocol.Foretell) -> Pulled:
        self._head = self._fetch(head, whole=not cursor)
        if cursor and not self._has(cursor):  # in a new copy, which begins at the head
            with contextlib.suppress(GitFailedError):
                self._git.run("fetch", *_FETCH, "--unshallow", "--", self._address, self._refspec)
        return self._changes(cursor, self._head, foretell)

    def push(self, skills: Sequence[OutgoingSkill], counters: Mapping[CounterKey, int]) -> Pushed:
        """One commit for all; nobody else's commit is ever overwritten. Where the branch does not
        take it, it goes to a branch of this machine's own, for a person to merge."""
        try:
            return self._push(skills, counters)
        except GitFailedError as error:
            self._forget_copy()
            told = f"the copy {self._git.repository} cannot be used: {error.told}"
            return Pushed(raced=True, busy=told)

    def _push(self, skills: Sequence[OutgoingSkill], counters: Mapping[CounterKey, int]) -> Pushed:
        head = self._head
        present = layout.listing(self._git, head, layout.SKILLS) if head else {}
        taken = [skill for skill in skills if present.get(skill.name, "") in ("", skill.expected)]
        free = {skill.name for skill in taken}
        refused = [skill.name for skill in skills if skill.name not in free]
        files = self._counter_files(head, counters)
        if not taken and not files:
            return Pushed(refused=refused)
        commit = self._commit(head, taken, files)
        tokens = layout.listing(self._git, commit, layout.SKILLS)
        accepted = {skill.name: tokens[skill.name] for skill in taken}
        if head and self._tree(commit) == self._tree(head):
            return Pushed(accepted, refused)
        refusal = self._to.send(commit)
        if refusal is None:
            with contextlib.suppress(GitFailedError):  # it has landed; the next fetch brings it
                self._git.run("update-ref", _FETCHED, commit)
            self._head = commit
            return Pushed(accepted, refused, cursor=commit)
        return self._not_taken(commit, refusal)

    def _not_taken(self, commit: str, refusal: Refusal) -> Pushed:
        head = self._head
        if not head and refusal.wants_other_ids:
            git_copy.other_algorithm(self._git)
            return Pushed(raced=True, busy=str(refusal))
        if self._remote_head() != head:
            return Pushed(raced=True)
        if refusal.is_race:  # nobody wrote: the copy lacks something
            raise GitFailedError("push", str(refusal))
        if refusal.is_busy:
            return Pushed(raced=True, busy=f"{self._address} took no push: {refusal}")
        if refusal.is_fault_there:
            raise RemoteUnavailableError(f"{self._address} could not take the push: {refusal}")
        branch, proposed = self._to.propose(commit, refusal)
        return Pushed(proposed=proposed, place=branch, raced=not proposed)

    def waits_at(self, place: str) -> bool:
        ref = f"refs/heads/{place}"
        there = self._refs_there(ref, self._ref)
        return ref in there or there.get(self._ref, "") != self._head

    def close(self) -> None:
        """Nothing stays open between calls."""

    # -- fetching ------------------------------------------------------------------------------

    def _remote_head(self) -> str:
        """The commit the branch stands at, "" for none: one question, nothing is fetched."""
        git_copy.ensure(self._git)
        return self._refs_there(self._ref).get(self._ref, "")

    def _refs_there(self, *refs: str) -> dict[str, str]:
        try:
            return self._git.refs_there(self._address, *refs)
        except GitFailedError as error:
            raise RemoteUnavailableError(
                f"{self._address} cannot be reached: {error.told}",
                "Everything goes on with the library at home; the next sync tries again.",
            ) from error

    def _require_no_other(self) -> None:
        """RemoteError where the branch that nobody named is missing beside others: one of them may
        be meant."""
        there = self._git.refs_there(self._address, "refs/heads/*")
        names = [ref.removeprefix("refs/heads/") for ref in there]
        others = sorted(name for name in names if not name.startswith(OWN_BRANCHES))
        if others and self._ref not in there:
            raise RemoteError(
                f"{self._address} has no branch {self._branch}, but {', '.join(others)[:200]}",
                f"Name one with `branch:`, or make it there: `git push {self._address}"
                f" <commit>:{self._ref}`.",
            )

    def _fetch(self, head: str, *, whole: bool) -> str:
        """Bring the branch here as it stood at `head` or later; a copy that a kill left unusable
        is made again. Only a commit that the remote itself told of just now is believed: the ref of
        the copy may be moved by the fetch of a sync that was killed, which goes on for a while.
        whole: all of it is read next, which tells of what is missing."""
        told = "others write faster than it can be fetched"
        for _ in range(_FETCH_TRIES):
            git_copy.suit(self._git, head)
            git_copy.clear_leftovers(self._git)
            try:
                self._fetch_once()
                if self._has(head):
                    if not whole:
                        check_trees(self._git, head)
                    return head
                before, head = head, self._remote_head()
                if head == before:  # fetched, and not there: the copy lacks what its refs name
                    self._forget_copy()
            except GitFailedError as error:
                told = error.told
                self._forget_copy()
        raise RemoteUnavailableError(f"{self._address} at {head[:10]} could not be fetched: {told}")

    def _fetch_once(self) -> None:
        depth = [] if self._git.commit_at(_FETCHED) else ["--depth=1"]
        self._git.run("fetch", *_FETCH, *depth, "--", self._address, self._refspec)

    def _changes(self, cursor: str, head: str, foretell: protocol.Foretell) -> Pulled:
        known = bool(cursor) and self._has(cursor)
        before = layout.listing(self._git, cursor, layout.SKILLS) if known else {}
        after = layout.listing(self._git, head, layout.SKILLS)
        changed = {name: token for name, token in after.items() if before.get(name) != token}
        foretell(len(changed))
        skills = self._read(head, changed) if changed else []
        skills += [RemoteSkill(name, "", None) for name in before if name not in after]
        if known and skills and not self._is_ancestor(cursor, head):
            skills = [skill._replace(lost=True) for skill in skills]
        earlier = layout.listing(self._git, cursor, layout.COUNTERS) if known else {}
        sums = layout.listing(self._git, head, layout.COUNTERS)
        fresh = {name: blob for name, blob in sums.items() if earlier.get(name) != blob}
        mine = {f"{self._machine}.json"} & earlier.keys()
        changed_by_others = {n: earlier[n] for n in mine if earlier[n] != sums.get(n)}
        lost = dict.fromkeys(layout.read_counters(self._git, changed_by_others), 0)
        return Pulled(head, skills, {**lost, **layout.read_counters(self._git, fresh)})

    def _read(self, head: str, changed: Mapping[str, str]) -> list[RemoteSkill]:
        """These skills: few of them at once, of many the files while they are used."""
        reading = Reading(self._git, head, changed, self._unreadable)
        if len(changed) < _MANY:
            reading.now()
        return reading.skills

    def _unreadable(self, error: GitFailedError) -> RemoteUnavailableError:
        head = self._head
        self._forget_copy()
        return RemoteUnavailableError(
            f"{self._address} at {head[:10]} could not be read: {error.told}",
            "The next sync fetches all of it again.",
        )

    def _is_ancestor(self, older: str, newer: str) -> bool:
        """Whether what differs was changed by a commit; else the branch was rewritten."""
        try:
            self._git.run("merge-base", "--is-ancestor", older, newer)
        except GitFailedError as error:
            if error.status == 1:
                return False
            raise
        return True

    # -- pushing -------------------------------------------------------------------------------

    def _commit(
        self, head: str, skills: Sequence[OutgoingSkill], counters: Mapping[str, bytes]
    ) -> str:
        lines = [f"- {s.name}: {' '.join(s.why.split())[:120]}".rstrip(": ") for s in skills]
        count = f"{len(skills)} skill{'' if len(skills) == 1 else 's'}"
        title = f"{count} from {self._machine}" if skills else f"Uses counted by {self._machine}"
        message = "\n".join([title, "", *lines[:100]]).rstrip() + "\n"
        who = f"skill-learner {self._machine} <{self._machine}@skill-learner.invalid>"
        stream = layout.commit_stream(message, who, int(time.time()), head, skills, counters)
        how = ("--quiet", "--force", "--done", "--date-format=raw")
        try:
            return self._git.run("fast-import", *how, data=stream).decode().strip()
        except GitFailedError as error:
            raise RemoteError(f"the commit could not be made: {error.told}") from error

    def _counter_files(self, head: str, counters: Mapping[CounterKey, int]) -> dict[str, bytes]:
        """This machine's file of counters with the new ones in it, when that changes anything."""
        counters = {key: n for key, n in counters.items() if is_countable(key, n)}
        if not counters:
            return {}
        name = f"{self._machine}.json"
        known = layout.listing(self._git, head, layout.COUNTERS) if head else {}
        sums = layout.read_counters(self._git, {name: known[name]} if name in known else {})
        for key, value in counters.items():
            sums[key] = max(value, sums.get(key, 0))
        return {name: layout.counters_file(sums)}

    # -- the copy ------------------------------------------------------------------------------

    def _forget_copy(self) -> None:
        self._head = ""
        git_copy.make_anew(self._git)

    def _has(self, commit: str) -> bool:
        try:
            self._git.run("cat-file", "-e", f"{commit}^{{tree}}")
        except GitFailedError:
            return False
        return True

    def _tree(self, commit: str) -> str:
        return self._git.run("rev-parse", f"{commit}^{{tree}}").decode().strip()
