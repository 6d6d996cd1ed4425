"""What the scope of a skill is called here and on the way, and which scopes and tags travel."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from skill_learner.remotes.settings import RemoteSettings
from skill_learner.remotes.shared_skill import SharedSkill

USER = "user"
_FOREIGN_SCOPE = "shared:"


@dataclass(frozen=True)
class ScopeNames:
    """Scopes here and on the way: a project's key holds a path, its folder's name does not. A name
    that no project here bears stays `shared:<name>` until one does."""

    names: Mapping[str, str] = field(default_factory=dict)

    def shared(self, scope: str) -> str:
        if scope == USER:
            return USER
        if scope.startswith(_FOREIGN_SCOPE):
            return "project:" + scope.removeprefix(_FOREIGN_SCOPE)
        return "project:" + self.names.get(scope, scope.rpartition("-")[0] or scope)

    def home(self, shared: str) -> str:
        if shared == USER:
            return USER
        name = shared.removeprefix("project:")
        return self._keys.get(name, _FOREIGN_SCOPE + name)

    def arrived(self) -> dict[str, str]:
        """What was without a project until now: `shared:<name>` to the key of that project."""
        return {_FOREIGN_SCOPE + name: key for name, key in self._keys.items()}

    @cached_property
    def _keys(self) -> dict[str, str]:
        return {name: key for key, name in self.names.items()}


def wanted(shared: SharedSkill, settings: RemoteSettings) -> bool:
    """Whether the settings let a skill of this scope and these tags travel."""
    label = shared.scope.removeprefix("project:")
    in_scope = not settings.scope or "" in settings.scope or label in settings.scope
    return in_scope and bears_a_tag(shared.metadata, settings)


def bears_a_tag(metadata: Mapping[str, str], settings: RemoteSettings) -> bool:
    """Whether `metadata.tags` holds one of those that the settings ask for, if they ask for any: as
    words, with or without commas, or as a YAML list (which is kept as JSON text)."""
    if not settings.tags:
        return True
    told = metadata.get("tags", "")
    tags = set(told.replace(",", " ").split())
    if told.startswith("["):
        with contextlib.suppress(ValueError, RecursionError):
            tags.update(item.strip() for item in json.loads(told) if isinstance(item, str))
    return not tags.isdisjoint(settings.tags)
