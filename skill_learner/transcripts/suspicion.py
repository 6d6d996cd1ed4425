"""Does the output of a shell command look like a failure that the editor reported as success?

Structure comes first: an exit code that the command line does not hide is believed. Words are read
only where the exit code is hidden (a pipe, `;`, `|| true`, a later line) or was not reported.
"""

from __future__ import annotations

import re

SHELL_TOOLS = frozenset({"Bash", "PowerShell", "Shell", "BashOutput"})

_WINDOW = 6_000
_QUOTED = re.compile(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"", re.DOTALL)
_HIDES_EXIT = re.compile(r"(?<!\|)\|(?!\|)|\|\||;\s*\S|\n\s*\S|&\s*$")
_SPLIT = re.compile(r"&&|\|\|?|;|\n")
_PREFIX_WORD = re.compile(r"^(?:[A-Za-z_]\w*=\S*|sudo|time|env|command|nice|timeout \S+)\s+")

_READER_NAMES = """
cat bat head tail less more grep egrep fgrep rg ag sed awk cut sort uniq tr wc find fd ls tree
echo printf jq yq xxd strings diff comm tee cd pushd popd export source set true pwd which type
stat file column nl history sleep get-content gc select-string select-object where-object
foreach-object sort-object group-object measure-object format-table out-string out-file
write-output write-host get-childitem dir test-path
"""
_READERS = frozenset(_READER_NAMES.split())
"""Programs whose output is somebody else's text: an error in it is data, not their failure."""
_READING_SUBCOMMANDS = re.compile(
    r"^(?:git (?:--no-pager )?(?:log|diff|show|blame|grep|status|config|ls-files)"
    r"|go doc|gh (?:run|pr|issue|api)|docker logs|kubectl (?:logs|get|describe)|man)\b"
)

_SHELL_ERROR = re.compile(
    r"^(?:"
    r"\(eval\):\d+: "
    r"|(?:/bin/)?(?:zsh|bash|sh|dash|ksh|fish):(?: line)?(?: ?\d+:)? .*"
    r"(?:not found|no matches|No such file|[Pp]ermission denied|error|Unknown command|cannot)"
    r"|.{0,80}: line \d+: .*(?:command not found|syntax error|No such file)"
    r"|.{0,80} : The term '.*' is not recognized"
    r"|'.{1,80}' is not recognized as an internal or external command"
    r"|\s+\+ FullyQualifiedErrorId"
    r")",
    re.MULTILINE,
)
_RUNNER_ERROR = re.compile(
    r"^(?:"
    r"Traceback \(most recent call last\):"
    r"|npm (?:ERR!|error )"
    r"|(?:error|fatal|panic)(?:\[\w+\])?: "
    r"|E\s{2,}\w*(?:Error|Exception)\b"
    r"|(?:--- )?FAIL(?:ED|URE)?(?:[:\s]|$)"
    r"|make(?:\[\d+\])?: \*\*\* "
    r"|BUILD FAILED|FAILURE: |ERR_[A-Z_]+|\s*ERR_PNPM_"
    r"|Tests?:\s+[1-9]\d* failed|=+ .*\b[1-9]\d* (?:failed|errors?)\b"
    r"|.{0,20}✖ [1-9]\d* problems?"
    r"|\S{1,200}:\d+(?::\d+)?:? (?:fatal )?[Ee]rror\b"
    r"|\S{1,200}\(\d+,\d+\): error "
    r"|(?:Uncaught )?\w*(?:Error|Exception): "
    r")",
    re.MULTILINE,
)


def looks_failed(command: str, output: str, *, exit_code_known: bool) -> bool:
    """Whether `output` of `command`, which was not flagged as an error, reads like a failure.

    exit_code_known: the editor said in so many words that the call was no error.
    """
    hidden = hides_exit_code(command)
    if exit_code_known and not hidden:
        return False
    sample = output if len(output) <= 2 * _WINDOW else f"{output[:_WINDOW]}\n{output[-_WINDOW:]}"
    if _SHELL_ERROR.search(sample):
        return True
    return not only_reads(command) and _RUNNER_ERROR.search(sample) is not None


def hides_exit_code(command: str) -> bool:
    """Whether a part of the command line can fail without the whole one failing."""
    bare = _QUOTED.sub("Q", command.strip())
    if "pipefail" in bare:
        bare = re.sub(r"(?<!\|)\|(?!\|)", " ", bare)
        bare = re.sub(r"set -\w*o? ?\w*pipefail\s*(?:;|\n|&&)", "", bare)
    return _HIDES_EXIT.search(bare) is not None


def only_reads(command: str) -> bool:
    """Whether every program of the command line only shows text that was there before."""
    for part in _SPLIT.split(_QUOTED.sub("Q", command)):
        segment = part.strip().lstrip("({ ")
        while (prefix := _PREFIX_WORD.match(segment)) is not None:
            segment = segment[prefix.end() :]
        if not segment or segment.startswith(("#", "$", "Q", ">", "2>")):
            continue
        program = re.split(r"[\\/]", segment.split(None, 1)[0])[-1].lower()
        if program not in _READERS and not _READING_SUBCOMMANDS.match(segment):
            return False
    return True
