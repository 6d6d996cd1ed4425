"""The environment for a program that answers a review."""

from __future__ import annotations

from collections.abc import Mapping

REVIEW_MARKER = "SKILL_LEARNER_REVIEW"
"""Hooks that find it set do nothing, so that a review never triggers a review."""

_SESSION_VARIABLES = frozenset(
    {
        "CLAUDECODE",
        "CLAUDE_CODE_SESSION_ID",
        "CLAUDE_CODE_CHILD_SESSION",
        "CLAUDE_CODE_ENTRYPOINT",
        "CLAUDE_CODE_SESSION_ATTENDED",
        "CLAUDE_CODE_SSE_PORT",
        "CLAUDE_CODE_SIMPLE",
        "CLAUDE_CODE_SAFE_MODE",
        "CLAUDE_EFFORT",
        "CLAUDE_ENV_FILE",
        "CLAUDE_PID",
        "CLAUDE_PLUGIN_DATA",
        "CLAUDE_PLUGIN_ROOT",
        "CLAUDE_PROJECT_DIR",
    }
)
_SESSION_PREFIXES = ("CLAUDE_CODE_MESSAGING_",)


def child_environment(env: Mapping[str, str]) -> dict[str, str]:
    """`env` without what ties a process to the editor session that started it, plus our marker.

    What says who pays stays: ANTHROPIC_*, CLAUDE_CONFIG_DIR, CLAUDE_CODE_OAUTH_TOKEN,
    CLAUDE_CODE_USE_BEDROCK and the like.
    """
    kept = {
        name: value
        for name, value in env.items()
        if name not in _SESSION_VARIABLES and not name.startswith(_SESSION_PREFIXES)
    }
    kept[REVIEW_MARKER] = "1"
    return kept
