"""Learn reusable skills from coding-agent sessions.

Importing this package loads nothing else: the public names below resolve on first use, so that
hooks and scripts pay only for what they touch.
"""

__version__ = "0.1.0"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skill_learner.config import SkillLearnerConfig
    from skill_learner.errors import ConfigError, LibraryError, ProviderError, SkillLearnerError
    from skill_learner.interfaces import EmbeddingProvider, LLMProvider
    from skill_learner.models import Skill

_PUBLIC = {
    "ConfigError": "skill_learner.errors",
    "EmbeddingProvider": "skill_learner.interfaces",
    "LLMProvider": "skill_learner.interfaces",
    "LibraryError": "skill_learner.errors",
    "ProviderError": "skill_learner.errors",
    "Skill": "skill_learner.models",
    "SkillLearnerConfig": "skill_learner.config",
    "SkillLearnerError": "skill_learner.errors",
}

__all__ = [
    "ConfigError",
    "EmbeddingProvider",
    "LLMProvider",
    "LibraryError",
    "ProviderError",
    "Skill",
    "SkillLearnerConfig",
    "SkillLearnerError",
    "__version__",
]


def __getattr__(name: str) -> object:
    if name in _PUBLIC:
        import importlib

        return getattr(importlib.import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> "list[str]":
    return sorted({*globals(), *_PUBLIC})
