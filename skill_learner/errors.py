"""Every error the package raises on purpose.

    SkillLearnerError                 message, hint (the next step), exit_code
    |-- ConfigError                   a setting is wrong: names file, line and key
    |-- InstallError                  a user's file cannot be merged; nothing was written
    |-- SkillFormatError              a SKILL.md does not parse or breaks the format
    |-- LibraryError                  the library refuses a change (not ours, stale, unsafe path)
    |-- IndexUnusableError            the search index cannot be opened or made (never the library)
    |-- TranscriptError               a transcript file cannot be read at all
    |-- StateError                    the state folder is a newer program's or another user's
    |-- JobError                      a review job cannot be run
    |-- RemoteError                   a remote answers nonsense, or refuses what was sent
    |   `-- RemoteUnavailableError    it cannot be reached now; everything goes on without it
    |-- ReviewWaitsError              a review has not failed, but cannot be now
    |   |-- CeilingReachedError       a daily ceiling forbids another LLM call today
    |   `-- ReviewedElsewhereError    another worker is at it, until in `seconds` or so
    `-- ProviderError                 the LLM could not be asked, or answered nonsense
        |-- ProviderUnavailableError  not installed, not logged in, no key
        |-- ProviderTimeoutError      no answer in time
        `-- ProviderAnswerError       an answer came, but not of the agreed shape

Foreign errors (OSError, yaml.YAMLError, SDK errors) are translated once, at the module that meets
them first; `cli` prints message and hint, and exits with `exit_code`.
"""

from __future__ import annotations


class SkillLearnerError(Exception):
    """A failure with words for the user.

    message: what went wrong, naming the file and line where there is one.
    hint: the next step, as a sentence or a command; may be empty.
    """

    exit_code = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class ConfigError(SkillLearnerError):
    """A program meets it as a traceback, where nobody prints the hint: its text holds both."""

    exit_code = 2

    def __str__(self) -> str:
        return f"{self.message}; {self.hint}" if self.hint else self.message


class InstallError(SkillLearnerError):
    exit_code = 3


class SkillFormatError(SkillLearnerError):
    exit_code = 4


class LibraryError(SkillLearnerError):
    exit_code = 4


class IndexUnusableError(SkillLearnerError):
    exit_code = 4


class TranscriptError(SkillLearnerError):
    exit_code = 5


class StateError(SkillLearnerError):
    exit_code = 9


class JobError(SkillLearnerError):
    exit_code = 6


class ReviewWaitsError(SkillLearnerError):
    exit_code = 6

    def __init__(self, message: str, hint: str = "", *, seconds: float = 0.0) -> None:
        super().__init__(message, hint)
        self.seconds = seconds


class CeilingReachedError(ReviewWaitsError):
    pass


class ReviewedElsewhereError(ReviewWaitsError):
    pass


class RemoteError(SkillLearnerError):
    exit_code = 8


class RemoteUnavailableError(RemoteError):
    pass


class ProviderError(SkillLearnerError):
    exit_code = 7


class ProviderUnavailableError(ProviderError):
    pass


class ProviderTimeoutError(ProviderError):
    pass


class ProviderAnswerError(ProviderError):
    pass
