"""Shell command lines as data: the parts of a line, their normal form, and what each is for.

Nothing here runs a command. A line is split at `&&`, `||`, `;`, newlines and pipes with regard to
quotes; heredoc bodies are dropped. Sound for POSIX shells and PowerShell alike as far as needed to
say "the same check was run again".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from skill_learner.learning.command_words import (
    FILTER_PROGRAMS,
    HARMLESS_PROGRAMS,
    LAUNCHERS,
    READ_ONLY_PROGRAMS,
    READ_ONLY_SUBCOMMANDS,
    SUBCOMMAND_PROGRAMS,
    WRAPPERS,
)
from skill_learner.models import Session, Step, ToolCall

SHELL_TOOLS = frozenset({"bash", "powershell", "shell", "run_terminal_cmd", "terminal", "execute"})

_HEREDOC = re.compile(r"<<-?\s*(['\"]?)(\w+)\1.*?\n\s*\2\b", re.DOTALL)
_ATOM = re.compile(
    r"'[^']*'|\"(?:\\.|[^\"\\])*\"|\\.|\$\((?:[^()]|\([^()]*\))*\)"
    r"|(?P<op>&&|\|\||\|&?|;|\n)|[^'\"\\$&|;\n]+|.",
    re.DOTALL,
)
_WORD = re.compile(r"(?:'[^']*'|\"(?:\\.|[^\"\\])*\"|[^\s'\"]|['\"])+")
_REDIRECT = re.compile(r"^(?:\d|&)?(?:>>?|<)(?:&\d|(?P<target>\S+))?$")
_ASSIGNMENT = re.compile(r"^(?:\$env:)?[A-Za-z_]\w*=")
_TEMP_PATH = re.compile(
    r"(?:/private)?(?:/tmp|/var/tmp|/var/folders)/\S+|\$env:TEMP\S*|[A-Za-z]:\\\S*?\\Temp\\\S+"
)
_HASH = re.compile(r"\b(?=[0-9a-f]*\d)[0-9a-f]{7,64}\b")
_NUMBER = re.compile(r"\d+")
_ABSOLUTE = re.compile(r"^(?:/|~/|[A-Za-z]:[\\/])")


@dataclass(frozen=True)
class Part:
    """One simple command. words: without wrappers, assignments and redirects, quotes kept.
    before: the operator in front of it ("" for the first)."""

    before: str
    text: str
    words: tuple[str, ...]

    @property
    def program(self) -> str:
        """Base name of the program, lower case, without `.exe`."""
        if not self.words:
            return ""
        name = re.split(r"[\\/]", unquote(self.words[0]))[-1].lower()
        return name.removesuffix(".exe").removesuffix(".cmd")


def unquote(word: str) -> str:
    return word.replace('"', "").replace("'", "")


def command_of(call: ToolCall | None) -> str:
    """The command line of a shell tool's call, "" for any other tool."""
    if call is None or call.name.lower() not in SHELL_TOOLS:
        return ""
    command = call.input.get("command")
    return command if isinstance(command, str) else ""


@lru_cache(maxsize=4096)
def parts_of(line: str) -> tuple[Part, ...]:
    """The simple commands of a line in order, empty ones left out."""
    found: list[Part] = []
    operator = ""
    text = ""
    for match in _ATOM.finditer(_HEREDOC.sub("<<heredoc", line)):
        if match.group("op") is None:
            text += match.group()
            continue
        _append(found, operator, text)
        operator, text = match.group("op"), ""
    _append(found, operator, text)
    return tuple(found)


def _append(found: list[Part], operator: str, text: str) -> None:
    text = text.strip()
    if not text or text.startswith("#"):
        return
    found.append(Part(operator if found else "", text, _essential_words(text)))


def _essential_words(text: str) -> tuple[str, ...]:
    words = _WORD.findall(text.strip("(){} \t"))
    kept: list[str] = []
    skip_target = False
    for word in words:
        if skip_target:
            skip_target = False
            continue
        redirect = _REDIRECT.match(word)
        if redirect:
            skip_target = word[-1] in "<>"
            continue
        kept.append(word)
    return tuple(_without_prefixes(kept))


def _without_prefixes(words: list[str]) -> list[str]:
    """Without `VAR=x`, `sudo`, `time`, `timeout 30` and the like in front."""
    rest = list(words)
    while rest:
        head = rest[0].strip("(&").lower()
        if _ASSIGNMENT.match(rest[0]) or head in {"", "export", "then", "do", "else"}:
            rest.pop(0)
        elif head in WRAPPERS:
            rest.pop(0)
            while rest and (rest[0].startswith("-") or _NUMBER.match(rest[0])):
                rest.pop(0)
        else:
            break
    return rest


def main_parts(line: str) -> tuple[Part, ...]:
    """The parts that do the work: no cd, echo, source and the like, no filters behind a pipe."""
    kept: list[Part] = []
    for part in parts_of(line):
        if not part.program or part.program in HARMLESS_PROGRAMS or part.before in {"|", "|&"}:
            continue
        inner = _inner_script(part)
        kept.extend(main_parts(inner) if inner else (part,))
    return tuple(kept)


def _inner_script(part: Part) -> str:
    """The script of `bash -c '…'`, "" for anything else."""
    if part.program not in {"bash", "sh", "zsh", "pwsh"} or len(part.words) < 3:
        return ""
    quoted = part.words[2]
    is_script = part.words[1].lower() in {"-c", "-lc", "-command"} and quoted[0] in "'\""
    return quoted[1:-1] if is_script else ""


def reduce_word(word: str, project: str = "") -> str:
    """A word without what differs from run to run: machine paths, temp paths, hashes, numbers."""
    plain = unquote(word)
    if project:
        plain = plain.replace(project.rstrip("/\\") + "/", "").replace(
            project.rstrip("/\\") + "\\", ""
        )
    plain = _TEMP_PATH.sub("T", plain)
    if _ABSOLUTE.match(plain):
        plain = re.split(r"[\\/]", plain.rstrip("\\/"))[-1]
    return _NUMBER.sub("N", _HASH.sub("H", plain))


@lru_cache(maxsize=8192)
def normal_form(part: Part, project: str = "") -> str:
    """Equal for the same command in another checkout, at another time, with other numbers."""
    if not part.words:
        return ""
    rest = " ".join(reduce_word(word, project) for word in part.words[1:])
    return f"{_family(part.program)} {rest}".strip()


def normalise_line(line: str, project: str = "") -> str:
    """Normal form of a whole line: its main parts joined by `&&`."""
    return " && ".join(normal_form(part, project) for part in main_parts(line))


def _family(program: str) -> str:
    """python3.11 and python are one program."""
    return re.sub(r"(?<=[a-z])[\d.]+$", "", program) or program


_OPTION_WITH_VALUE = frozenset(
    "--filter -C --prefix --workspace -w -F -f -p -c --config --project --rootDir -o "
    "--output".split()
)


def positionals(part: Part) -> tuple[str, ...]:
    """The words behind the program that are neither options nor values of well-known options."""
    found: list[str] = []
    skip = False
    for word in part.words[1:]:
        if not skip and not word.startswith("-"):
            found.append(unquote(word))
        skip = word in _OPTION_WITH_VALUE
    return tuple(found)


@lru_cache(maxsize=8192)
def goal(part: Part) -> str:
    """What a command is for, regardless of its options: `go build`, `pnpm test`, `python build.py`,
    `markdownlint-cli2` (through npx)."""
    words = list(part.words)
    program = _family(part.program)
    if program in LAUNCHERS:
        launched = _launched(words)
        if launched:
            return launched
    if program in SUBCOMMAND_PROGRAMS:
        chosen = _subcommand(words[1:])
        return f"{program} {chosen}".strip()
    return program


def _launched(words: list[str]) -> str:
    """The tool that npx, uvx, `python -m` or `python script` starts."""
    rest = words[1:]
    if "-m" in rest[:-1]:
        return unquote(rest[rest.index("-m") + 1])
    named = [unquote(word) for word in rest if not word.startswith("-")]
    if named and named[0] in {"run", "exec", "tool"}:
        named = named[1:]
    return re.split(r"[\\/]", named[0])[-1].split("@")[0] if named else ""


def _subcommand(words: list[str]) -> str:
    named: list[str] = []
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word == "--":
            break
        elif word.startswith("-"):
            skip = word in _OPTION_WITH_VALUE
        else:
            named.append(unquote(word))
    if named[:1] in (["run"], ["exec"], ["tool"]):
        named = named[1:]
    return named[0] if named else ""


def is_read_only(part: Part) -> bool:
    """True for looking around (ls, grep, git status, `--help`): it proves and changes nothing."""
    program = part.program
    if program in READ_ONLY_PROGRAMS or program in FILTER_PROGRAMS:
        return "-i" not in part.words or program != "sed"
    if any(word in {"--help", "-h", "--version"} for word in part.words[1:]):
        return True
    return goal(part) in READ_ONLY_SUBCOMMANDS


def is_work(line: str) -> bool:
    """True when the line does more than look around."""
    return bool(work_parts(line))


@lru_cache(maxsize=4096)
def work_parts(line: str) -> tuple[Part, ...]:
    """The main parts that do more than look around."""
    return tuple(part for part in main_parts(line) if not is_read_only(part))


def shell_steps(session: Session) -> Iterator[tuple[Step, ToolCall, str]]:
    """Every step that ran a shell command to an end, with its call and command line."""
    for step in session.steps:
        line = command_of(step.call)
        if line and step.call is not None and step.call.status in {"ok", "suspect", "failed"}:
            yield step, step.call, line
