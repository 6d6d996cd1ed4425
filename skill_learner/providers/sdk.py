"""What the two official SDKs share: they are optional, and raise errors of the same kinds."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, TypeVar

from skill_learner.errors import (
    ProviderError,
    ProviderTimeoutError,
    ProviderUnavailableError,
)
from skill_learner.providers.base import (
    RETRYABLE_STATUS,
    UNAVAILABLE_STATUS,
    TransientProviderError,
)

Answer = TypeVar("Answer")


def import_sdk(name: str) -> Any:
    """The SDK module of that name, which is also the name of our extra."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ProviderUnavailableError(
            f"{name}: its SDK is not installed",
            f"pip install 'skill-learner[{name}]'",
        ) from error


def asked(name: str, sdk: Any, question: Callable[[], Answer]) -> Answer:
    """The answer to `question`, with the SDK's errors in our words."""
    try:
        return question()
    except sdk.APITimeoutError as error:
        raise ProviderTimeoutError(f"{name}: no answer in time") from error
    except sdk.APIStatusError as error:
        raise _status_error(name, error) from error
    except sdk.APIConnectionError as error:
        cause = error.__cause__ or error
        raise TransientProviderError(f"{name}: cannot be reached: {cause}") from error


def _status_error(name: str, error: Any) -> ProviderError:
    status = int(error.status_code)
    message = f"{name}: HTTP {status}: {_short(str(error))}"
    if status in UNAVAILABLE_STATUS:
        return ProviderUnavailableError(message, "check the key in the environment")
    if status in RETRYABLE_STATUS:
        return TransientProviderError(message, retry_after=_retry_after(error))
    return ProviderError(message)


def _retry_after(error: Any) -> float | None:
    try:
        return max(0.0, float(error.response.headers["retry-after"]))
    except (KeyError, ValueError, AttributeError):
        return None


def _short(text: str, size: int = 300) -> str:
    text = " ".join(text.split())
    return text if len(text) <= size else text[:size] + "..."
