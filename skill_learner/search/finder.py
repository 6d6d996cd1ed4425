"""What one host may find in a library: by cosine where it can, by words where it cannot."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Protocol

from skill_learner.models import Skill
from skill_learner.search.skill_search import USER_SCOPE, SkillSearch

_BLENDED = 50

Fit = Callable[[list[Skill]], list[Skill]]


class Semantic(Protocol):
    """Search by meaning (`search.embeddings.EmbeddingSearch`)."""

    @property
    def weight(self) -> float | None: ...

    def cosines(self, query: str, scope: str | None) -> Mapping[str, float] | None: ...

    def skills(self, keys: Iterable[str]) -> Sequence[Skill]: ...

    def relevant(self, query: str, top_k: int, scope: str | None) -> Sequence[Skill] | None:
        """The nearest skills; None when words are to be used instead."""

    def sync(self) -> None: ...

    def state(self) -> dict[str, Any]: ...

    def close(self) -> None: ...


class SkillFinder:
    """scope: a project's key for its skills and the user-wide ones; None for all. fit: leaves out
    what is not to be given to agents."""

    def __init__(
        self,
        search: SkillSearch,
        scope: str | None,
        semantic: Semantic | None = None,
        fit: Fit = list,
    ) -> None:
        self._fit = fit
        self._search = search
        self._scope = scope
        self._semantic = semantic

    def relevant(self, query: str, top_k: int) -> list[Skill]:
        """The active skills that serve a query, best first."""
        return self._fit(self._found(query, top_k))

    def _found(self, query: str, top_k: int) -> list[Skill]:
        semantic = self._semantic
        if semantic is not None and semantic.weight is None:
            found = semantic.relevant(query, top_k, self._scope)
            if found:
                return list(found)
        if semantic is not None and semantic.weight is not None:
            return self._blended(query, top_k, semantic, semantic.weight)
        hits = self._search.search(query, top_k=top_k, scope=self._scope)
        return [hit.skill for hit in hits]

    def _blended(self, query: str, top_k: int, semantic: Semantic, weight: float) -> list[Skill]:
        """By the words' score plus the weighted cosine; what the words do not find comes in by its
        cosine alone."""
        hits = self._search.search(query, top_k=max(top_k, _BLENDED), scope=self._scope)
        cosines = semantic.cosines(query, self._scope)
        if cosines is None:
            return [hit.skill for hit in hits[:top_k]]
        by_words = {hit.skill.name: hit for hit in hits}
        nearest = heapq.nlargest(_BLENDED, cosines, key=cosines.__getitem__)
        scores = {
            key: (by_words[key].score if key in by_words else 0.0) + weight * cosines.get(key, 0.0)
            for key in {*by_words, *nearest}
        }
        best = heapq.nlargest(top_k, scores, key=lambda key: (scores[key], key))
        return [
            skill
            for key in best
            for skill in ([by_words[key].skill] if key in by_words else semantic.skills([key]))
        ]

    def newest(self, limit: int) -> list[Skill]:
        return self._fit(self._search.newest(limit, scope=self._scope))

    def allows(self, skill: Skill) -> bool:
        """Whether a skill is within the scope and may be given to an agent."""
        inside = self._scope is None or skill.scope in (self._scope, USER_SCOPE)
        return inside and bool(self._fit([skill]))

    def saved(self, names: Collection[str]) -> None:
        """Index and embed skills that were just saved."""
        self._search.refresh(names)
        if self._semantic is not None:
            self._semantic.sync()

    def state_counts(self) -> dict[str, int]:
        return self._search.state_counts()

    def embedding_state(self) -> dict[str, Any] | None:
        """How search by meaning stands; None when there is none."""
        return None if self._semantic is None else self._semantic.state()

    def close(self) -> None:
        self._search.close()
        if self._semantic is not None:
            self._semantic.close()
