"""Search over the library: the index finds and ranks, the skills are read from their files."""

from __future__ import annotations

import contextlib
import heapq
import logging
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Protocol

from skill_learner.errors import IndexUnusableError, LibraryError, SkillFormatError
from skill_learner.interfaces import SearchHit, SkillIndex
from skill_learner.models import Skill, SkillState
from skill_learner.ranking.find import find, measure_strength
from skill_learner.ranking.score import SIGNALS
from skill_learner.search.documents import document_of
from skill_learner.search.matched_words import matched_words

log = logging.getLogger(__name__)

USER_SCOPE = "user"
ACTIVE: tuple[SkillState, ...] = ("active",)
_BATCH = 1_000
_MOST_READ = 300


class LibraryLook(Protocol):
    """See `skills.reader.LibraryLook`."""

    def mark(self) -> str: ...

    def stamps(self) -> dict[str, str]: ...


class IndexedLibrary(Protocol):
    """What search needs of a library."""

    def look(self) -> LibraryLook: ...

    def at(self, key: str) -> Skill: ...


class SkillSearch:
    """fallback: makes the index to use for this process when `index` cannot work at all."""

    def __init__(
        self,
        library: IndexedLibrary,
        index: SkillIndex,
        fallback: Callable[[], SkillIndex] | None = None,
    ) -> None:
        self._library = library
        self._index = index
        self._fallback = fallback
        self._lock = threading.RLock()
        self._held = threading.local()

    @contextlib.contextmanager
    def one_look(self) -> Iterator[None]:
        """What this thread asks within sees the files as they are now: they are looked at once."""
        if self._held_look() is not None:
            yield
            return
        self._held.look = self._library.look()
        try:
            yield
        finally:
            self._held.look = None

    def search(
        self,
        query: str,
        *,
        top_k: int = 5,
        scope: str | None = None,
        states: Collection[SkillState] = ACTIVE,
    ) -> list[SearchHit]:
        """The skills that serve a query, best first; edits made by hand up to now are seen.

        scope: a project's key gives its skills and the user-wide ones; None gives all. Any text
        is a query; one without a word that occurs in the library finds nothing.
        """
        try:
            return self._search(query, top_k, scope, states)
        except IndexUnusableError as error:
            self._fall_back(error)
            return self._search(query, top_k, scope, states)

    def nearest(self, text: str, k: int = 5) -> list[Skill]:
        """The skills most like a text, candidates included: what a new skill might duplicate."""
        hits = self.search(text, top_k=k, states=("active", "candidate"))
        return [hit.skill for hit in hits]

    def newest(
        self,
        limit: int,
        *,
        scope: str | None = None,
        states: Collection[SkillState] = ACTIVE,
    ) -> list[Skill]:
        """The skills that were written last, newest first; reads no more files than it must."""
        stamps = self._look().stamps()
        keys = heapq.nlargest(_MOST_READ, stamps, key=lambda key: (_written(stamps[key]), key))
        scopes = None if scope is None else {scope, USER_SCOPE}
        found: list[Skill] = []
        for key in keys:
            if len(found) >= limit:
                break
            with contextlib.suppress(SkillFormatError, LibraryError):
                skill = self._library.at(key)
                if skill.state in states and (scopes is None or skill.scope in scopes):
                    found.append(skill)
        return found

    def state_counts(self) -> dict[str, int]:
        """How many skills there are in each state."""
        return dict(Counter(state for _, state, _ in self.digests().values()))

    def digests(self) -> dict[str, tuple[str, str, str]]:
        """Content hash, state and scope of each skill by its key, without reading the files."""
        self.sync()
        told = {key: digest.split("/", 2) for key, (_, digest) in self._index.stamps().items()}
        return {key: (p[0], p[1], p[2]) for key, p in told.items() if len(p) == 3}

    def close(self) -> None:
        self._index.close()

    def sync(self) -> int:
        """Bring the index up to date with the files; returns how many skills were read."""
        try:
            return self._synced()
        except IndexUnusableError as error:
            self._fall_back(error)
            return self._synced()

    def refresh(self, keys: Collection[str]) -> None:
        """Bring these skills' entries up to date, after they were saved; looks at nothing else."""
        try:
            with self._lock:
                self._read_batch(list(keys), dict.fromkeys(keys, ""), {})
        except IndexUnusableError as error:
            self._fall_back(error)

    def rebuild(self) -> int:
        """Make the index anew; returns how many skills it holds."""
        self._index.clear()
        return self.sync()

    def _fall_back(self, error: IndexUnusableError) -> None:
        if self._fallback is None:
            raise error
        log.warning("%s; searching without it", error.message)
        self._index, self._fallback = self._fallback(), None

    def _held_look(self) -> LibraryLook | None:
        return getattr(self._held, "look", None)

    def _look(self) -> LibraryLook:
        return self._held_look() or self._library.look()

    def _synced(self) -> int:
        with self._lock:
            return self._sync()

    def _sync(self) -> int:
        look = self._look()
        mark = look.mark()
        if mark and self._index.holds(mark):
            return 0
        present = look.stamps()
        known = self._index.stamps()
        removed = [key for key in known if key not in present]
        stale = [
            key
            for key, stamp in present.items()
            if not stamp or known.get(key, ("", ""))[0] != stamp
        ]
        if removed:
            self._index.update([], removed)
        taken_in = 0
        for start in range(0, len(stale), _BATCH):
            changed, opened = self._read_batch(stale[start : start + _BATCH], present, known)
            taken_in += changed
            mark = mark if opened else ""
        if taken_in >= _BATCH:
            self._index.finish()
        if mark:
            self._index.seal(mark)
        return len(stale)

    def _read_batch(
        self,
        keys: list[str],
        present: Mapping[str, str],
        known: Mapping[str, tuple[str, str]],
    ) -> tuple[int, bool]:
        """How many skills were taken in, and whether every file could be opened: one that is no
        skill is as good as gone until it changes."""
        changed, unusable, same, opened = [], [], {}, True
        for key in keys:
            try:
                document = document_of(self._library.at(key), key, present[key])
            except (SkillFormatError, LibraryError) as error:
                opened = opened and isinstance(error, SkillFormatError)
                unusable.append(key)
                continue
            if key in known and known[key][1] == document.content_hash:
                same[key] = present[key]
            else:
                changed.append(document)
        self._index.restamp(same)
        self._index.update(changed, [key for key in unusable if key in known])
        return len(changed), opened

    def _search(
        self, query: str, top_k: int, scope: str | None, states: Collection[SkillState]
    ) -> list[SearchHit]:
        self._synced()
        scopes = None if scope is None else frozenset({scope, USER_SCOPE})
        found = find(self._index, query, frozenset(states), scopes)
        measure_strength(self._index, found)
        hits: list[SearchHit] = []
        for candidate in found.candidates:
            if len(hits) >= top_k:
                break
            try:
                skill = self._library.at(candidate.key)
            except (SkillFormatError, LibraryError):
                continue  # changed since the index was brought up to date
            matched = matched_words(skill, found.plan.words, found.plan.bigrams)
            signals = dict(zip(SIGNALS, candidate.signals, strict=True))
            hits.append(SearchHit(skill, candidate.score, matched, candidate.strength, signals))
        return hits


def _written(stamp: str) -> float:
    """The time in a stamp; a file too new to have one comes first."""
    head = stamp.partition(":")[0]
    return int(head) if head.isdecimal() else float("inf")
