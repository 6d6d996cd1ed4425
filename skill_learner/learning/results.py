"""What the result of a command says: failed, passed, or nothing to be learned from.

An exit code alone does not tell: a pipe hides it, an empty test run passes, and many failures are
those of the machine and not of the work.
"""

from __future__ import annotations

import re

from skill_learner.learning.command_effects import hides_exit_code
from skill_learner.models import ToolCall

_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_EXIT_LINE = re.compile(r"^(?:Exit code \d+|<tool_use_error>|</tool_use_error>)\s*$", re.MULTILINE)

EDITOR_RULES = re.compile(
    r"File has not been read yet|File has been modified since read"
    r"|File has been unexpectedly modified"
    r"|String to replace not found|Found \d+ matches of the string to replace"
    r"|Sibling tool call errored|Cancelled: parallel tool call|\[Request interrupted"
    r"|InputValidationError|No such tool available|(?:Pre|Post)ToolUse:?.{0,40}hook"
    r"|requires approval|haven't granted|doesn't want to proceed|File does not exist\."
    r"|exceeds maximum allowed tokens|Command contains multiple|was blocked\. For security"
)
"""The editor's own rules and banners: never a lesson about the work."""

_ENVIRONMENT = re.compile(
    # network
    r"could not resolve host|name or service not known"
    r"|temporary failure in name resolution"
    r"|getaddrinfo|\bENOTFOUND|\bEAI_AGAIN|\bECONNREFUSED|\bECONNRESET"
    r"|\bETIMEDOUT|network is unreachable"
    r"|connection (?:refused|reset|timed out|aborted)|failed to connect to|no route to host"
    r"|max retries exceeded|proxy ?error|tunnel connection failed|SSL certificate problem"
    r"|certificate verify failed|TLS handshake|rate limit|too many requests|\b429\b.*requests"
    r"|503 service unavailable|502 bad gateway"
    # missing program, wrong folder
    r"|command not found|is not recognized as (?:an internal|the name of)|: not found$"
    r"|executable file not found|not a git repository|unknown command: (?:npx|npm|python)"
    r"|^(?:cd|bash|sh|zsh|/bin/\w+|\(eval\))\b.*(?:no such file or directory|not a directory)"
    r"|can't open file '|could not (?:find|read) package\.json|ENOENT.*package\.json"
    r"|no package\.json|go\.mod file not found|no makefile found|no rule to make target"
    r"|could not find `?Cargo\.toml|can't cd to"
    # permissions, sandbox, limits of the machine
    r"|permission denied|operation not permitted|\bEACCES|\bEPERM|read-only file system"
    r"|access is denied|sandbox|must be (?:run as )?root|sudo:.*password"
    r"|no space left on device|out of memory|cannot allocate memory|\bkilled\b\s*$"
    r"|\bENOSPC|\bENOMEM"
    r"|address already in use|\bEADDRINUSE|cannot connect to the docker daemon"
    r"|^timeout\b|command timed out|timed out after|^Exit code (?:124|126|127|130|137|143)$"
    # the shell's own grammar
    r"|no matches found|parse error near|unknown file attribute|unexpected EOF while looking"
    r"|syntax error near unexpected token|bad substitution|unmatched [\"'`]|event not found"
    r"|authentication failed|could not read username|gpg failed to sign",
    re.IGNORECASE | re.MULTILINE,
)

_VACUOUS = re.compile(
    r"^[ \t]*(?:no tests? (?:found|ran|were found|to run)|no test files?\s*(?:found)?$"
    r"|collected 0 items"
    r"|ran 0 tests|0 tests? (?:ran|passed|executed)|no files (?:matching|were found)"
    r"|testing: warning: no tests to run|\[no tests to run\]|=+ no tests ran)",
    re.IGNORECASE | re.MULTILINE,
)
"""Runs that passed because they did nothing."""

_FAILED_TEXT = re.compile(
    r"^[ \t]*(?:Traceback \(most recent call last\)|panic: |fatal: |thread '.*' panicked)"
    r"|^[ \t]*(?:\S+[:(]\d+(?:[:,]\d+)?\)?:?\s*)?(?:fatal )?error(?:\[\w+\]|\s+[A-Z]{1,4}\d+)?: "
    r"|^\s*[\w.]*(?:Error|Exception)\b: |^(?:---? )?FAIL(?:ED|URE)?\b|^[ \t]*(?:✗|✘|⨯|❌)"
    r"|\bBUILD FAILED\b|\b[1-9]\d* (?:tests? )?(?:failed|failures?|failing)\b"
    r"|\b[1-9]\d* errors?\b(?! (?:in 0|handler|page))|npm ERR!|^make(?:\[\d+\])?: \*\*\*"
    r"|ELIFECYCLE",
    re.IGNORECASE | re.MULTILINE,
)

_PASSED_TEXT = re.compile(
    r"\b[1-9]\d* (?:tests? )?pass(?:ed|ing)\b|^[ \t]*(?:PASS|ok)\b|✓|✔"
    r"|\ball (?:checks|tests) passed"
    r"|\b0 (?:issues|errors?|problems|failures|failed)\b|\bno (?:issues|errors|problems) found"
    r"|build (?:succeeded|successful|complete)|\bBUILD SUCCESS|compiled successfully"
    r"|Success: no issues|^[ \t]*Finished\b|built in [\d.]+|^OK\b(?: \(|$)",
    re.IGNORECASE | re.MULTILINE,
)


_REFUSED = re.compile(
    r"unknown (?:option|flag|argument|command|subcommand)|unrecogni[sz]ed (?:option|argument|flag)"
    r"|invalid (?:option|flag|argument)|no such option|flag provided but not defined"
    r"|unexpected argument|illegal option|parse error near|syntax error near|no matches found"
    r"|unknown file attribute|command not found|is not recognized as"
    r"|bad substitution|missing script|unexpected EOF while looking|unmatched [\"'`]",
    re.IGNORECASE,
)

_WINDOW = 6_000


def _sample(text: str | None) -> str:
    """Head and tail of a result, cleaned: enough to tell a failure from a pass."""
    text = text or ""
    if len(text) > 2 * _WINDOW:
        text = f"{text[:_WINDOW]}\n{text[-_WINDOW:]}"
    return clean_result(text)


def clean_result(text: str | None) -> str:
    """A result without colours, carriage returns and the editor's wrapping."""
    plain = _ANSI.sub("", text or "").replace("\r", "")
    return _EXIT_LINE.sub("", plain).strip("\n")


def is_editor_rule(text: str) -> bool:
    return bool(EDITOR_RULES.search(text))


def is_environment(error_lines: str) -> bool:
    """True when the lines that carry the error speak of the machine: network, sandbox, a missing
    program, a wrong folder, permissions, time-outs, or the shell's own grammar."""
    return bool(_ENVIRONMENT.search(error_lines))


def did_nothing(result: str) -> bool:
    return bool(_VACUOUS.search(result)) and not _PASSED_TEXT.search(_VACUOUS.sub("", result))


def shows_failure(result: str) -> bool:
    return bool(_FAILED_TEXT.search(result))


def shows_success(result: str) -> bool:
    return bool(_PASSED_TEXT.search(result))


def failed(call: ToolCall) -> bool:
    """A command that failed by its status, by what it printed, or by doing nothing at all."""
    result = _sample(call.result)
    if call.status == "failed":
        return not is_editor_rule(call.result or "")
    if call.status == "suspect" and shows_failure(result):
        return True
    return call.status in {"ok", "suspect"} and did_nothing(result)


def misused(call: ToolCall) -> bool:
    """A command that its own program or the shell refused, or that did nothing: what it says is no
    way to do the thing. (A check that ran and found faults is not meant.)"""
    result = _sample(call.result)
    if call.status == "failed":
        return bool(_REFUSED.search(result)) or did_nothing(result) or not result.strip()
    return did_nothing(result) or (call.status == "suspect" and bool(_REFUSED.search(result)))


def passed(call: ToolCall, line: str) -> bool:
    """A command that is known to have passed. Behind a pipe or `|| true` the output itself must say
    so; output that speaks of failure is never a pass."""
    if call.status != "ok" or call.background:
        return False
    result = _sample(call.result)
    if did_nothing(result) or shows_failure(result):
        return False
    return shows_success(result) if hides_exit_code(line) else True
