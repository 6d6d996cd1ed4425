"""The user's leave to send something to a model, and the words it was given on."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass

from skill_learner import files
from skill_learner.paths import StatePaths

TEXT_VERSION = 1
"""Raised whenever `consent_text` comes to say something else; older consents then ask again."""

_OFFLINE = "offline"
_RECIPIENTS = {
    "claude-cli": "Anthropic, by your own `claude` login",
    "anthropic": "Anthropic, with your API key",
    "openai": "OpenAI (or the base URL you set), with your API key",
    "command": "the program that `command` names, and whoever it talks to",
}


@dataclass(frozen=True)
class Consent:
    """What was allowed. `at`: unix seconds. text_version: of the words the user was shown."""

    provider: str
    model: str
    daily_reviews: int
    daily_tokens: int
    at: float
    text_version: int = TEXT_VERSION

    def covers(self, provider: str) -> bool:
        """Whether this leave is for sending to `provider`, on the words of today."""
        return self.provider == provider and self.text_version == TEXT_VERSION


def consent_text(provider: str, model: str, daily_reviews: int, daily_tokens: int) -> str:
    """What leaves the machine, to whom, and under which ceilings; for the user to read."""
    if provider == _OFFLINE:
        return "Reviews run on this machine by rules alone. Nothing leaves it."
    recipient = _RECIPIENTS.get(provider, f"the provider `{provider}`")
    asked = f" (model {model})" if model else ""
    return (
        "What leaves this machine: when a session shows something worth learning, a digest of it"
        " (your words, commands, shortened results; secrets that are recognised are blanked), with"
        " the text of up to five skills like it.\n"
        f"To whom: {recipient}{asked}.\n"
        f"Ceilings: at most {daily_reviews:,} reviews and {daily_tokens:,} tokens a day; every call"
        " is listed by `skill-learner stats --calls`.\n"
        "Without your leave reviews run on this machine by rules alone, and nothing leaves it."
    )


def load_consent(paths: StatePaths) -> Consent | None:
    """The recorded leave; None when there is none or it cannot be read."""
    try:
        fields = json.loads(paths.consent.read_bytes())
        return Consent(
            provider=str(fields["provider"]),
            model=str(fields["model"]),
            daily_reviews=int(fields["daily_reviews"]),
            daily_tokens=int(fields["daily_tokens"]),
            at=float(fields["at"]),
            text_version=int(fields["text_version"]),
        )
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None


def withdraw_consent(paths: StatePaths) -> bool:
    """Whether there was anything to withdraw, readable or not. Reviews ask for each job."""
    try:
        paths.consent.unlink()
    except FileNotFoundError:
        return False
    return True


def save_consent(
    paths: StatePaths, provider: str, model: str, daily_reviews: int, daily_tokens: int
) -> Consent:
    """Record that the user agreed, now, to what `consent_text` says for these values."""
    consent = Consent(provider, model, daily_reviews, daily_tokens, time.time())
    files.ensure_private_dir(paths.root)
    files.atomic_write(
        paths.consent, (json.dumps(asdict(consent), indent=1) + "\n").encode("ascii")
    )
    return consent
