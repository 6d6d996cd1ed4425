"""Where things lie below the state folder; ARCHITECTURE.md has the table with who writes what."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

DATA_PACKAGE_FOLDER = "_data"


def default_state_dir() -> Path:
    return Path(os.path.expanduser("~")) / ".skill_learner"


def data_dir(kind: str) -> Path:
    """The folder `hooks` or `templates`: inside the package in a wheel, beside it in a checkout."""
    package = Path(__file__).resolve().parent
    packaged = package / DATA_PACKAGE_FOLDER / kind
    return packaged if packaged.is_dir() else package.parent / kind


@lru_cache(maxsize=256)  # a skill's name is asked about several times while it is read
def safe_file_name(identifier: str) -> str:
    """Map any identifier to a file name: letters, digits, `-`, `_`, `.` stay, the rest becomes
    `%xx` of its UTF-8 bytes; never empty, `.` or `..`, at most 200 characters (then cut and
    hashed)."""
    from skill_learner.hook_runtime.project_key import safe_name

    return safe_name(os.fsencode(identifier)).decode("ascii")


@dataclass(frozen=True)
class StatePaths:
    root: Path

    @property
    def hook_conf(self) -> Path:
        return self.root / "hook.conf"

    @property
    def format(self) -> Path:
        return self.root / "format"

    @property
    def pause(self) -> Path:
        return self.root / "pause"

    @property
    def journal_dir(self) -> Path:
        return self.root / "journal"

    @property
    def tally_dir(self) -> Path:
        return self.root / "tally"

    @property
    def marks_dir(self) -> Path:
        return self.root / "marks"

    @property
    def requests_dir(self) -> Path:
        return self.root / "requests"

    @property
    def jobs_dir(self) -> Path:
        return self.root / "jobs"

    @property
    def conversations_dir(self) -> Path:
        return self.root / "conversations"

    @property
    def projects_dir(self) -> Path:
        return self.root / "projects"

    @property
    def published_dir(self) -> Path:
        return self.root / "published"

    @property
    def offered_dir(self) -> Path:
        return self.root / "offered"

    @property
    def news_dir(self) -> Path:
        return self.root / "news"

    @property
    def installs_dir(self) -> Path:
        return self.root / "installs"

    @property
    def consent(self) -> Path:
        return self.root / "consent.json"

    @property
    def ledger(self) -> Path:
        return self.root / "ledger.jsonl"

    @property
    def usage_db(self) -> Path:
        return self.root / "usage.sqlite"

    @property
    def index_db(self) -> Path:
        return self.root / "index.sqlite"

    @property
    def remotes_dir(self) -> Path:
        return self.root / "remotes"

    @property
    def remotes_db(self) -> Path:
        """What is remembered of every remote."""
        return self.remotes_dir / "state.sqlite"

    @property
    def review_lock(self) -> Path:
        return self.root / "review.lock"

    @property
    def hook_log(self) -> Path:
        return self.root / "hook.log"

    @property
    def review_log(self) -> Path:
        return self.root / "review.log"

    def have_open_reviews(self) -> bool:
        """Whether conversations of a Python host, or jobs, are left that no review has finished."""
        try:
            return any(any(d.glob("*.json*")) for d in (self.conversations_dir, self.jobs_dir))
        except OSError:  # no such place can be: then nothing lies there
            return False
