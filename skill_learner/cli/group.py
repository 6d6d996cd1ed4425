"""The click group behind `main`: loads one command at a time and turns errors into words."""

from __future__ import annotations

import errno
import importlib
import os
from typing import Any

import click

from skill_learner import __version__
from skill_learner.cli.main import COMMANDS
from skill_learner.errors import SkillLearnerError
from skill_learner.files import DRAFT_SUFFIX


class LazyGroup(click.Group):
    """A group whose commands are the table COMMANDS."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"skill_learner.cli.{COMMANDS[cmd_name][0]}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            ctx.fail(f"no such command: {args[0]}{_did_you_mean(args[0])}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except SkillLearnerError as problem:
            _complain(problem.message, problem.hint)
            ctx.exit(problem.exit_code)
        except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise
        except TimeoutError as problem:
            _complain(str(problem), "another skill-learner is at work; try again in a moment")
            ctx.exit(1)
        except OSError as problem:
            name = str(problem.filename or "")
            if not name and _is_here_gone():
                _complain("the folder that you are in is gone", "cd to one that exists")
                ctx.exit(1)
            if name.endswith(DRAFT_SUFFIX) and problem.filename2:
                name = str(problem.filename2)  # the draft is gone again
            place = f": {name}" if name else ""
            hint = "see what stands there and whether you may write it, then run this again"
            if problem.errno in (errno.ENOSPC, errno.EDQUOT):
                hint = "make room on that disk, then run this again"
            _complain(f"{problem.strerror or problem}{place}", hint if name else "")
            ctx.exit(1)
        except Exception as problem:
            if os.environ.get("SKILL_LEARNER_DEBUG"):
                raise
            _complain(
                f"unexpected {type(problem).__name__}: {problem}",
                "run it again with SKILL_LEARNER_DEBUG=1 for the place, and please report it",
            )
            ctx.exit(70)


def _is_here_gone() -> bool:
    try:
        os.getcwd()
    except FileNotFoundError:
        return True
    return False


def _complain(message: str, hint: str) -> None:
    from skill_learner.cli.output import printable

    click.echo(f"error: {printable(message)}", err=True)
    if hint:
        click.echo(f"hint: {printable(hint)}", err=True)


def _did_you_mean(name: str) -> str:
    import difflib

    near = " or ".join(difflib.get_close_matches(name, COMMANDS, n=2))
    return f"; did you mean {near}?" if near else "; `skill-learner --help` lists them"


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(
    __version__, "-V", "--version", prog_name="skill-learner", message="%(prog)s %(version)s"
)
def cli() -> None:
    """Watch coding-agent sessions, keep what was proved to work as skills."""
