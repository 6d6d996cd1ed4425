"""Learn reusable skills from coding-agent sessions.

Importing this package loads nothing else: the public names below resolve on first use, so that
hooks and scripts pay only for what they touch.
"""

__version__ = "0.1.0"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skill_learner.config import SkillLearnerConfig
    from skill_learner.engine import SkillEngine
    from skill_learner.errors import ConfigError, LibraryError, ProviderError, SkillLearnerError
    from skill_learner.injector import PromptInjector
    from skill_learner.integrations.generic_agent import SkillLoop, create_skill_loop
    from skill_learner.interfaces import EmbeddingProvider, LLMProvider
    from skill_learner.models import Skill
    from skill_learner.reviewer import BackgroundReviewer
    from skill_learner.search.static_embeddings import StaticEmbeddings
    from skill_learner.trigger import ReviewTrigger

_PUBLIC = {
    "BackgroundReviewer": "skill_learner.reviewer",
    "ConfigError": "skill_learner.errors",
    "EmbeddingProvider": "skill_learner.interfaces",
    "LLMProvider": "skill_learner.interfaces",
    "LibraryError": "skill_learner.errors",
    "PromptInjector": "skill_learner.injector",
    "ProviderError": "skill_learner.errors",
    "ReviewTrigger": "skill_learner.trigger",
    "Skill": "skill_learner.models",
    "SkillEngine": "skill_learner.engine",
    "SkillLearnerConfig": "skill_learner.config",
    "SkillLearnerError": "skill_learner.errors",
    "StaticEmbeddings": "skill_learner.search.static_embeddings",
    "SkillLoop": "skill_learner.integrations.generic_agent",
    "create_skill_loop": "skill_learner.integrations.generic_agent",
}

__all__ = [
    "BackgroundReviewer",
    "ConfigError",
    "EmbeddingProvider",
    "LLMProvider",
    "LibraryError",
    "PromptInjector",
    "ProviderError",
    "ReviewTrigger",
    "Skill",
    "SkillEngine",
    "SkillLearnerConfig",
    "SkillLearnerError",
    "SkillLoop",
    "StaticEmbeddings",
    "__version__",
    "create_skill_loop",
]


def __getattr__(name: str) -> object:
    if name in _PUBLIC:
        import importlib

        return getattr(importlib.import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> "list[str]":
    return sorted({*globals(), *_PUBLIC})
