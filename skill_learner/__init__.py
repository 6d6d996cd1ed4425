"""Learn reusable skills from coding-agent sessions.

Importing this package loads nothing else: the public names below resolve on first use, so that
hooks and scripts pay only for what they touch.
"""

__version__ = "0.1.0"

_PUBLIC = {
    "SkillLearnerConfig": "skill_learner.config",
    "SkillLearnerError": "skill_learner.errors",
}

__all__ = ["__version__", *_PUBLIC]


def __getattr__(name: str) -> object:
    if name in _PUBLIC:
        import importlib

        return getattr(importlib.import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
