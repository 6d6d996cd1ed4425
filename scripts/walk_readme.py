"""Walk the README as a newcomer: every shell line in its order, every Python block, and a look at
what it says one will see.

Everything lies in one temporary folder: a home, a project, and what `pipx install .` installs. The
sessions between the lines are those of `scripts/try`, played through the hooks that `init` wrote.
Fails where the README names a command, option, key, file or output that is not so.

Not walked: `uvx --from .`, which needs uv; of `scripts/test`, one file only.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import try_loop
from readme_blocks import READER, code_spans, python_blocks, shell_lines, table_rows
from try_loop import CHECKOUT, DATA, Client, Stage, StageFailed, say

NUMBERS = {"six": 6, "eight": 8, "ten": 10}


class Walk:
    """The newcomer: where they stand, what they have installed, what they expect."""

    def __init__(self, root: Path, readme: str, interpreter: Path | None) -> None:
        self.root = root
        self.readme = readme
        self.editors = (CHECKOUT / "docs" / "editors.md").read_text(encoding="utf-8")
        self.fast = interpreter is not None
        self.stage = Stage(root, interpreter or Path(sys.executable))
        self.stage.project = self.stage.home / "your-project"
        self.bin = self.stage.home / ".local" / "bin"
        self.here = CHECKOUT
        self.before: dict[str, bytes] = {}
        self.promised: set[str] = set()  # wordings that were looked for
        self.line = ""  # a registered hook, kept for when the package is gone

    # -- what a newcomer does --------------------------------------------------------------------

    def shell(self, line: str, *, cwd: Path | None = None, **more: str) -> str:
        """Run a line as typed; it must succeed. Questions are answered with yes."""
        environment = self.stage.environment | {"PATH": self._path(), "PIP_NO_CACHE_DIR": "1"}
        done = subprocess.run(
            ["/bin/sh", "-c", line],
            cwd=cwd or self.here,
            env=environment | try_loop.own_pip_settings(Path.home()) | more,
            input="y\n",
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )
        if done.returncode:
            raise StageFailed(f"$ {line}\nexit {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def _path(self) -> str:
        own = [str(self.bin), str(self.root / "tools" / "bin")]
        return os.pathsep.join([*own, os.environ.get("PATH", os.defpath)])

    def learner(self, *words: str) -> str:
        return self.shell(" ".join(["skill-learner", *words]))

    def expect(self, true: bool, what: str) -> None:
        if not true:
            raise StageFailed(f"README.md says otherwise: {what}")
        say(f"  as it says: {what}")

    def said(self, text: str) -> str:
        """A wording that the README promises; it must still stand there."""
        if text not in " ".join(self.readme.split()):
            raise StageFailed(f"README.md does not say {text!r} any more; change the walk")
        self.promised.add(text)
        return text

    # -- the lines -------------------------------------------------------------------------------

    def run(self) -> None:
        after: dict[str, Callable[[], None]] = {
            "skill-learner init --target claude-code": self.after_init,
            "skill-learner uninstall --target claude-code": self.after_uninstall,
            "skill-learner uninstall --target claude-code --user": self.after_user_uninstall,
            "skill-learner uninstall --target claude-code --purge": self.after_purge,
        }
        self.prepare()
        lines = shell_lines(self.readme)
        missing = set(after) - set(lines)
        if missing:
            raise StageFailed(f"README.md has no line {missing.pop()!r} any more; change the walk")
        for line in lines:
            say(f"$ {line}")
            self.type_line(line)
            if line in after:
                after[line]()

    def prepare(self) -> None:
        shutil.copytree(DATA / "project", self.stage.project)
        for folder in (self.stage.root / "tmp", self.bin):
            folder.mkdir(parents=True, exist_ok=True)
        self.stage.run("git", "init", "--quiet")
        (self.stage.project / "CLAUDE.md").write_text("# Ours\n\nNo newline at the end")
        self.before = contents(self.stage.project)
        if self.fast:
            program = self.bin / "skill-learner"
            program.write_text(
                f'#!/bin/sh\nexec "{self.stage.interpreter}" -m skill_learner "$@"\n'
            )
            program.chmod(0o755)
        else:
            self.shell(f"{sys.executable} -m venv {self.root}/tools")
            self.shell(f"{self.root}/tools/bin/python -m pip --quiet install pipx")

    def type_line(self, line: str) -> None:
        if line.startswith("cd "):
            self.here = self.stage.home / line.removeprefix("cd ~/")
        elif line.startswith("pipx install"):
            if not self.fast:
                self.shell(line)
                first = (self.bin / "skill-learner").read_text().partition("\n")[0]
                self.stage.interpreter = Path(first.removeprefix("#!").removesuffix(" -E"))
        elif line == "scripts/test":
            one = "-q -p no:cacheprovider tests/test_architecture.py"
            venv = str(self.root / "test-venv")
            more = {"SKILL_LEARNER_CLIENT_TESTS": "skip", "SKILL_LEARNER_TEST_VENV": venv}
            if not self.fast:
                self.shell(f"{line} {one}", cwd=CHECKOUT, **more)
        elif line.startswith("scripts/"):
            if not self.fast:
                self.shell(line, cwd=CHECKOUT)
        else:
            self.shell(line)

    # -- what one sees ---------------------------------------------------------------------------

    def after_init(self) -> None:
        self.written_files()
        self.an_ordinary_session()
        self.two_sessions()
        self.commands_and_options()
        self.settings()
        self.switches()
        self.blocks_of_python()
        self.other_editors()
        self.learner("init", "--target", "claude-code", "--user")

    def written_files(self) -> None:
        project = self.stage.project
        events = len(events_of(project / ".claude" / "settings.json"))
        self.line = next(try_loop.registered_commands(project, "PostToolUse"))
        (row,) = [what for where, what in self.disk_table() if "settings.json" in where]
        self.expect(events == NUMBERS[row.split()[0]], f"settings.json: {row}")
        self.events_are_named("Claude Code", project / ".claude" / "settings.json")
        notes = (project / "CLAUDE.md").read_text(encoding="utf-8")
        own = notes.removeprefix("# Ours\n\nNo newline at the end").strip()
        between = own.startswith("<!--") and own.endswith("-->")
        self.expect(between, self.said("one block between two HTML comments at its end"))
        seed = project / ".claude" / "skills" / "skill-learner" / "SKILL.md"
        self.expect(seed.is_file(), "a seed skill in .claude/skills/skill-learner/")

    def an_ordinary_session(self) -> None:
        client = Client(self.stage)
        client.start()
        head = {"session_id": client.session, "cwd": str(self.stage.project)}
        prompt = {"hook_event_name": "UserPromptSubmit", "prompt": "what is in this folder?"}
        call: dict[str, Any] = {
            "hook_event_name": "PostToolUse",
            "tool_name": "Bash",
            "tool_use_id": "toolu_1",
        }
        call |= {"tool_input": {"command": "ls"}, "tool_response": {"stdout": "site"}}
        for payload in (prompt, call, {"hook_event_name": "SessionEnd", "reason": "other"}):
            client.fire(head | payload)
        job = try_loop.wait_for_review(self.stage, client.session)
        shown = self.learner("status")
        wanted = self.said("shows what was seen")
        self.expect(str(job["detail"]) in shown and "nothing" in shown, f"`status` {wanted}")

    def two_sessions(self) -> None:
        try_loop.play_session(self.stage, 1, DATA / "first-session.json")
        try_loop.the_skill(self.stage, "candidate")
        try_loop.play_session(self.stage, 2, DATA / "second-session.json")
        skill = try_loop.the_skill(self.stage, "active")
        news = self.said("skill-learner learned 1 skill")
        printed = json.loads(Client(self.stage).start())
        self.expect(news in printed["systemMessage"], f"the next start says {news!r}")
        link = self.stage.project / ".claude" / "skills" / skill["name"]
        self.expect(link.is_symlink() and (link / "SKILL.md").is_file(), "the skill is linked")
        index = try_loop.index_text(self.stage, skill["name"])
        self.expect(index.count(f"{skill['name']}") == 1, self.said("one line stands in"))
        git = self.stage.run("git", "status", "--porcelain", "--", ".claude/skills")
        self.expect(skill["name"] not in git.stdout, "links are kept out of git")
        self.learner("review", "--wait")

    def commands_and_options(self) -> None:
        helps: dict[str, str] = {}
        listed = " ".join(self.learner("--help").split())
        for command, told in table_rows(self.readme, "command"):
            name = command.strip("`")
            helps[name] = self.learner(name, "--help")
            wanted = told.rstrip(".").lower() in " ".join(helps[name].split()).lower()
            if not wanted and told not in listed:
                raise StageFailed(f"{command}: the program does not say {told!r}")
        self.expect(
            all(f" {name} " in listed for name in helps), f"the {len(helps)} commands are there"
        )
        lines = [*shell_lines(self.readme), *code_spans(self.readme + self.editors)]
        looked = [self.option_is_there(line, helps) for line in lines if line not in self.promised]
        self.expect(sum(looked) >= 8, f"{sum(looked)} commands with options take them")
        promise = self.said("Most that show something take `--json`")
        given = {"show": [json.loads(self.learner("list", "--json"))[0]["name"]]}
        given["search"] = ["build"]
        for name in ("list", "show", "search", "stats", "status", "doctor", "config", "why"):
            json.loads(self.learner(name, *given.get(name, []), "--json"))
        self.expect(sum("--json" in told for told in helps.values()) > len(helps) / 3, promise)

    def option_is_there(self, line: str, helps: dict[str, str]) -> bool:
        """Whether `line` is a command of ours with options, all of which its help names."""
        words = line.removeprefix("skill-learner ").split()
        ours = line.startswith("skill-learner ")
        if not words or (words[0] not in helps and not ours):
            return False
        if words[0] not in helps:
            raise StageFailed(f"`{line}`: there is no command {words[0]!r}")
        text = helps[words[0]]
        if words[0] in ("remote", "project") and len(words) > 1:
            text = self.learner(words[0], words[1], "--help")
        options = [word for word in words if word.startswith("--")]
        for option in options:
            if not re.search(rf"{re.escape(option)}\b", text):
                raise StageFailed(f"`{line}`: {words[0]} has no option {option}")
        return bool(options)

    def settings(self) -> None:
        config = json.loads(self.learner("config", "--json"))
        for keys, defaults, _ in table_rows(self.readme, "key"):
            told = [default.strip(" `") for default in defaults.split(",")]
            for key, default in zip(keys.split(", "), told, strict=True):
                there = str(config[key.strip("`")]).replace(str(self.stage.home), "~")
                self.expect(there == default, f"{key} is {default or 'empty'}")
        further = re.search(r"All keys, such as (.*?):", self.readme, re.S)
        named = re.findall(r"`(\w+)`", further[1]) if further else []
        self.expect(bool(named) and set(named) <= set(config), f"further keys {', '.join(named)}")
        settings = (CHECKOUT / "docs" / "settings.md").read_text(encoding="utf-8")
        every = {row[0].strip("`") for row in table_rows(settings, "key")}
        self.expect(every == set(config), f"all {len(every)} keys stand in docs/settings.md")

    def switches(self) -> None:
        journals = self.stage.home / ".skill_learner" / "journal"
        sizes = contents(journals)
        payload = json.dumps({"session_id": "off", "hook_event_name": "PostToolUse"}).encode()
        switch = self.said("SKILL_LEARNER_OFF=1").split("=")
        self.stage.run("/bin/sh", "-c", self.line, stdin=payload, **{switch[0]: switch[1]})
        file = self.stage.project / self.said(".skill-learner-off")
        file.touch()
        self.stage.run("/bin/sh", "-c", self.line, stdin=payload)
        file.unlink()
        self.expect(contents(journals) == sizes, "both switches stop it")
        self.stage.run("/bin/sh", "-c", self.line, stdin=payload)
        self.expect(contents(journals) != sizes, "without them it records")

    def blocks_of_python(self) -> None:
        blocks = python_blocks(self.readme)
        folder = self.root / "python"
        folder.mkdir()
        program = "\n".join([READER, *blocks])
        done = subprocess.run(
            [str(self.stage.interpreter), "-c", program, ""],
            cwd=folder,
            env=self.stage.environment | {"SKILL_LEARNER_STATE_DIR": str(self.root / "state")},
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        if done.returncode:
            raise StageFailed(done.stderr)
        self.expect(len(blocks) > 0 and not done.stderr, f"{len(blocks)} blocks of Python run")

    def events_are_named(self, editor: str, settings: Path) -> None:
        """In the README their number and file, in docs/editors.md their names."""
        (told,) = [row[2] for row in table_rows(self.readme, "editor") if row[0].startswith(editor)]
        there = events_of(settings)
        number = re.match(r"(\d+) events, `([^`]+)`", told)
        same = number is not None and int(number[1]) == len(there)
        self.expect(same and str(settings).endswith(number[2] if number else "?"), told)
        (names,) = [row[1] for row in table_rows(self.editors, "editor") if row[0] == editor]
        self.expect(set(re.findall(r"\w+", names)) == there, f"{editor} fires {names}")

    def other_editors(self) -> None:
        """Each in a project of its own: the files and the events of its row."""
        for name, title in (("cursor", "Cursor"), ("codex", "Codex CLI")):
            project = self.stage.home / name
            project.mkdir()
            self.shell(f"git init --quiet && skill-learner init --target {name}", cwd=project)
            settings = project / f".{name}" / "hooks.json"
            ((where, what),) = [row for row in self.disk_table() if f".{name}/hooks" in row[0]]
            (number,) = [count for word, count in NUMBERS.items() if f"{word} hook" in what]
            self.expect(len(events_of(settings)) == number, f"{name}: {number} hooks")
            for path in re.findall(r"`([^`]+)`", where):
                self.expect((project / path).exists(), f"{name}: {path}")
            self.events_are_named(title, settings)
            self.shell(f"skill-learner uninstall --target {name}", cwd=project)
            self.expect(not contents(project), f"uninstall of {name} leaves nothing")

    def after_uninstall(self) -> None:
        left = {
            name: data
            for name, data in contents(self.stage.project).items()
            if name.startswith((".claude", "CLAUDE"))  # the sessions changed others
        }
        same = left == {"CLAUDE.md": self.before["CLAUDE.md"]}
        self.expect(same, self.said("files as they were before"))
        library = self.stage.home / ".skill_learner" / "skills"
        self.expect(any(library.glob("*/SKILL.md")), self.said("the library stays"))

    def after_user_uninstall(self) -> None:
        left = contents(self.stage.home / ".claude", skip=("projects",))
        self.expect(not left, f"{self.said('what `init --user` wrote')} is gone")

    def after_purge(self) -> None:
        gone = not (self.stage.home / ".skill_learner").exists()
        self.expect(gone, self.said("and the library and state go too"))
        done = self.stage.run("/bin/sh", "-c", self.line, stdin=b"{}")
        quiet = (done.returncode, done.stdout, done.stderr) == (0, "", "")
        self.expect(quiet, f"a line that was left behind {self.said('leaves quietly')}")

    def disk_table(self) -> Sequence[tuple[str, str]]:
        return [(row[0], row[1]) for row in table_rows(self.readme, "where")]


def events_of(settings: Path) -> set[str]:
    """The events for which a settings file holds a hook of ours."""
    hooks: dict[str, Any] = json.loads(settings.read_text(encoding="utf-8"))["hooks"]
    return {event for event, entries in hooks.items() if "hook.sh" in json.dumps(entries)}


def contents(folder: Path, skip: Sequence[str] = ()) -> dict[str, bytes]:
    """Every file below a folder, git's own left out."""
    found: dict[str, bytes] = {}
    for where, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in (".git", "__pycache__", *skip)]
        for name in names:
            path = Path(where, name)
            found[str(path.relative_to(folder))] = path.read_bytes()
    return found


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/walk_readme", description=__doc__.split("\n")[0])
    parser.add_argument("--keep", action="store_true", help="leave the temporary folder in place")
    parser.add_argument("--python", type=Path, help="has skill-learner: install and test nothing")
    parser.add_argument("--readme", type=Path, default=CHECKOUT / "README.md")
    options = parser.parse_args()
    root = Path(tempfile.mkdtemp(prefix="skill-learner-walk-")).resolve()
    (root / "home").mkdir()
    try:
        Walk(root, options.readme.read_text(encoding="utf-8"), options.python).run()
    except StageFailed as failure:
        print(f"\nFAILED: {failure}", file=sys.stderr)
        return 1
    finally:
        if options.keep:
            say(f"Kept: {root}")
        else:
            shutil.rmtree(root, ignore_errors=True)
    say("\nThe README holds.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
