"""What one host may find in a library: by cosine where it can, by words where it cannot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from skill_learner.models import Skill
from skill_learner.search.skill_search import USER_SCOPE, SkillSearch


class Semantic(Protocol):
    """Search by meaning (`search.embeddings.EmbeddingSearch`)."""

    def relevant(self, query: str, top_k: int, scope: str | None) -> Sequence[Skill] | None:
        """The nearest skills; None when words are to be used instead."""

    def state(self) -> dict[str, Any]: ...

    def close(self) -> None: ...


class SkillFinder:
    """scope: a project's key for its skills and the user-wide ones; None for all."""

    def __init__(
        self, search: SkillSearch, scope: str | None, semantic: Semantic | None = None
    ) -> None:
        self._search = search
        self._scope = scope
        self._semantic = semantic

    def relevant(self, query: str, top_k: int) -> list[Skill]:
        """The active skills that serve a query, best first."""
        if self._semantic is not None:
            found = self._semantic.relevant(query, top_k, self._scope)
            if found:
                return list(found)
        hits = self._search.search(query, top_k=top_k, scope=self._scope)
        return [hit.skill for hit in hits]

    def newest(self, limit: int) -> list[Skill]:
        return self._search.newest(limit, scope=self._scope)

    def allows(self, skill: Skill) -> bool:
        """Whether a skill is within the scope."""
        return self._scope is None or skill.scope in (self._scope, USER_SCOPE)

    def state_counts(self) -> dict[str, int]:
        return self._search.state_counts()

    def embedding_state(self) -> dict[str, Any] | None:
        """How search by meaning stands; None when there is none."""
        return None if self._semantic is None else self._semantic.state()

    def close(self) -> None:
        self._search.close()
        if self._semantic is not None:
            self._semantic.close()
