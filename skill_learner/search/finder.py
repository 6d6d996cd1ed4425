"""What one host may find in a library: by cosine where it can, by words where it cannot."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from skill_learner.models import Skill
from skill_learner.search.blend import BY_WORDS, Weights, blended, nearest
from skill_learner.search.skill_search import USER_SCOPE, SkillSearch

Fit = Callable[[list[Skill]], list[Skill]]


class Semantic(Protocol):
    """Search by meaning (`search.embeddings.EmbeddingSearch`)."""

    @property
    def weights(self) -> Weights | None: ...

    def cosines(self, query: str, scope: str | None) -> Mapping[str, float] | None: ...

    def likeness(self, query: str, skills: Mapping[str, Skill]) -> Mapping[str, float]: ...

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

    def one_look(self) -> AbstractContextManager[None]:
        """See `SkillSearch.one_look`."""
        return self._search.one_look()

    def relevant(self, query: str, top_k: int) -> list[Skill]:
        """The active skills that serve a query, best first."""
        return self._fit(self._found(query, top_k))

    def _found(self, query: str, top_k: int) -> list[Skill]:
        semantic = self._semantic
        if semantic is not None and semantic.weights is None:
            found = semantic.relevant(query, top_k, self._scope)
            if found:
                return list(found)
        if semantic is not None and semantic.weights is not None:
            return self._blended(query, top_k, semantic, semantic.weights)
        hits = self._search.search(query, top_k=top_k, scope=self._scope)
        return [hit.skill for hit in hits]

    def _blended(self, query: str, top_k: int, semantic: Semantic, weights: Weights) -> list[Skill]:
        """In the order of words and meaning together; what the words do not find comes in by its
        meaning alone."""
        hits = self._search.search(query, top_k=max(top_k, BY_WORDS), scope=self._scope)
        cosines = semantic.cosines(query, self._scope)
        if cosines is None:
            return [hit.skill for hit in hits[:top_k]]
        found = {hit.skill.name: hit.skill for hit in hits}
        unfound = [key for key in nearest(cosines) if key not in found]
        found.update((skill.name, skill) for skill in semantic.skills(unfound))
        by_words = {hit.skill.name: hit.score for hit in hits}
        order = blended(
            {key: by_words.get(key, 0.0) for key in found},
            cosines,
            semantic.likeness(query, found) if weights.likeness else {},
            weights,
        )
        return [found[key] for key in order[:top_k]]

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
