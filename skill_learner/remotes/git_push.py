"""Pushes to a git repository: to its branch, or where that takes none, to a branch of our own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skill_learner.errors import RemoteError, RemoteUnavailableError
from skill_learner.remotes.git_address import compare_line, pushes_to_folder
from skill_learner.remotes.git_program import NO_HOOKS_THERE, GitFailedError, GitProgram

OWN_BRANCHES = "skill-learner/"
"""What the branches of machines begin with."""
_PROPOSED = "refs/proposed/"
_MOST_PROPOSALS = 9
_RACED = ("fetch first", "non-fast-forward", "stale info", "reference already exists")
_BUSY = ("failed to update ref", "cannot lock ref", "incorrect old value", "failed to lock")
_BROKEN = ("unpacker error", "failed to write", "missing necessary objects", "remote failure")
_OTHER_IDS = "does not support this repository's hash algorithm"


@dataclass(frozen=True)
class Refusal:
    """Why a ref was not taken, in the protocol's words, and what else git said of it."""

    why: str
    told: str

    def __str__(self) -> str:
        return self.why if self.why in self.told or not self.told else f"{self.why}; {self.told}"

    @property
    def is_race(self) -> bool:
        """Whether something else stands there than the pushed commit is made upon."""
        return self._tells(_RACED)

    @property
    def is_busy(self) -> bool:
        """Whether somebody holds what must be written."""
        return self._tells(_BUSY)

    @property
    def is_fault_there(self) -> bool:
        return self._tells(_BROKEN)

    @property
    def wants_other_ids(self) -> bool:
        return self.why == _OTHER_IDS

    def _tells(self, words: Sequence[str]) -> bool:
        return any(word in self.why for word in words)


class GitPush:
    """address: as git takes it. branch: that of the team. machine: the label of this one."""

    def __init__(self, git: GitProgram, address: str, branch: str, machine: str) -> None:
        self._git = git
        self._address = address
        self._branch = branch
        self._own = f"{OWN_BRANCHES}{machine}"

    def send(self, commit: str, branch: str = "", over: str | None = None) -> Refusal | None:
        """Push a commit to a branch ("": the team's); None when it was taken. over: in place of
        that commit alone ("": where nothing is yet), which may be none that ours is made upon."""
        ref = f"refs/heads/{branch or self._branch}"
        options = ["--porcelain", "--no-verify", "--quiet"]
        if over is not None:
            options.append(f"--force-with-lease={ref}:{over}")
        if pushes_to_folder(self._git, self._address):
            options.append(f"--receive-pack={NO_HOOKS_THERE}")
        try:
            self._git.run("push", *options, "--", self._address, f"{commit}:{ref}")
        except GitFailedError as error:
            for line in error.out.decode("utf-8", "replace").splitlines():
                if line.startswith("!"):
                    return Refusal(line.rpartition("\t")[2], error.told)
            if _OTHER_IDS in error.told:
                return Refusal(_OTHER_IDS, error.told)
            raise RemoteUnavailableError(
                f"{self._address} did not take the push: {error.told}"
            ) from error
        return None

    def propose(self, commit: str, why: Refusal) -> tuple[str, str]:
        """Push to a branch of this machine's own, for a person to merge; the branch, and where that
        is in words, both "" when somebody else wrote there meanwhile. why: the team's branch did
        not take it."""
        branch, there = self._free_branch()
        refusal = self.send(commit, branch, over=there)
        if refusal is not None and refusal.is_race:
            return "", ""
        if refusal is not None:
            raise RemoteError(
                f"{self._address} takes neither {self._branch} ({why}) nor {branch} ({refusal})"
            )
        self._git.run("update-ref", f"{_PROPOSED}{branch}", commit)
        compare = compare_line(self._address, self._branch, branch)
        return branch, f"{self._branch} is protected; proposed on branch {branch}: {compare}"

    def _free_branch(self) -> tuple[str, str]:
        """A branch of our own, and the commit that it stands at, "" for none. One that somebody
        went on from is theirs now, and stays as it is."""
        there = self._git.refs_there(self._address, f"refs/heads/{self._own}*")
        further = (f"{self._own}-{number}" for number in range(2, _MOST_PROPOSALS + 1))
        for branch in (self._own, *further):
            commit = there.get(f"refs/heads/{branch}", "")
            if commit in ("", self._git.commit_at(f"{_PROPOSED}{branch}")):
                return branch, commit
        raise RemoteError(
            f"{self._address} has {_MOST_PROPOSALS} branches {self._own} of which others went on",
            "Merge or delete them there.",
        )
