"""Draw scripts/picture.svg from what the commands really print, in the colours of a terminal.

Plays the two bundled sessions of scripts/try in a temporary folder with the interpreter this is
started with (it needs skill-learner installed), runs the commands the README names, and lets rich
turn the recorded output into an SVG.
"""

from __future__ import annotations

import contextlib
import fcntl
import io
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from rich.console import Console
from rich.text import Text
from try_loop import DATA, Client, Stage, wait_for_review

PICTURE = Path(__file__).resolve().parent / "picture.svg"
WIDTH = 112
LINES_OF_SKILL = 33


def colours(stage: Stage, *arguments: str) -> str:
    """What `skill-learner ARGUMENTS` prints in a terminal of this width."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 60, WIDTH, 0, 0))
    terminal = {"COLUMNS": str(WIDTH), "TERM": "xterm-256color"}
    process = subprocess.Popen(
        [str(stage.interpreter), "-m", "skill_learner", *arguments],
        cwd=stage.project, env=stage.environment | terminal,
        stdin=theirs, stdout=theirs, stderr=theirs,
    )  # fmt: skip
    os.close(theirs)
    printed = b""
    with contextlib.suppress(OSError):  # how Linux tells that the other side is closed
        while chunk := os.read(ours, 65536):
            printed += chunk
    os.close(ours)
    text = printed.decode().replace("\r\n", "\n")
    if process.wait():
        raise SystemExit(text)
    return text


def record(stage: Stage) -> Console:
    screen = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)

    def command(*arguments: str, keep: int | None = None) -> None:
        screen.print(
            Text.assemble(("$ ", "green"), (" ".join(["skill-learner", *arguments]), "bold"))
        )
        lines = colours(stage, *arguments).rstrip("\n").splitlines()
        for line in lines[:keep]:
            screen.print(Text.from_ansi(line.replace(str(stage.root), "~")), soft_wrap=False)
        screen.print()

    def remark(text: str) -> None:
        screen.print(Text(f"# {text}", style="dim italic"))

    remark("You work with Claude Code as ever. The same build fails on two days, and gets fixed.")
    for file in ("first-session.json", "second-session.json"):
        client = Client(stage)
        client.play(DATA / file)
        job = wait_for_review(stage, client.session)
        remark(
            f"{file.split('-', maxsplit=1)[0]} session, review in the background: {job['detail']}"
        )
    screen.print()
    command("list")
    (name,) = re.findall(r'"name": "([^"]+)"', stage.learner("list", "--json"))
    command("show", name, keep=LINES_OF_SKILL)
    return screen


def main() -> None:
    root = Path(tempfile.mkdtemp(prefix="skill-learner-picture-")).resolve()
    stage = Stage(root, Path(sys.executable))
    try:
        shutil.copytree(DATA / "project", stage.project)
        for folder in (stage.home, root / "tmp"):
            folder.mkdir()
        stage.run("git", "init", "--quiet")
        stage.learner("init", "--target", "claude-code")
        svg = record(stage).export_svg(title="skill-learner", unique_id="skill-learner")
    finally:
        shutil.rmtree(root, ignore_errors=True)
    PICTURE.write_text(svg, encoding="utf-8")
    print(f"wrote {PICTURE.name}: {len(svg)} bytes")


if __name__ == "__main__":
    main()
