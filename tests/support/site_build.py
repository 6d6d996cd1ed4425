"""What the scenes with a real client play: a build that fails until somebody finds out why."""

from __future__ import annotations

from pathlib import Path

from client_sandbox import ClientSandbox
from scripted_api import Body, Turn

from skill_learner.models import CreateSkill
from skill_learner.project import project_key
from skill_learner.skills.library import SkillLibrary

BUILD = "python3 tools/build.py"
CONFIG = "site.yaml"
BROKEN = "assets: public\n"
FIXED = "assets: public\nmanifest: public/manifest.json\n"
PROMPT = "Please get the site build to work."


def make_project(project: Path) -> None:
    (project / "tools").mkdir(exist_ok=True)
    (project / "tools" / "build.py").write_text(
        "import sys, pathlib\n"
        "config = pathlib.Path('site.yaml').read_text()\n"
        "if 'manifest:' not in config:\n"
        "    sys.exit('BuildError: E417 asset pipeline has no manifest:'\n"
        "             ' set `manifest` in site.yaml')\n"
        "print('built 12 pages')\n"
    )
    break_build(project)


def break_build(project: Path) -> None:
    (project / CONFIG).write_text(BROKEN)


def failing_then_passing(sandbox: ClientSandbox) -> list[Turn]:
    build = sandbox.shell(BUILD)
    return [
        Turn("Building.", [build]),
        Turn("Once more.", [build]),
        Turn("Looking at the configuration.", [sandbox.look_at(CONFIG)]),
        Turn("Adding it.", [sandbox.repair(CONFIG, BROKEN, FIXED)]),
        Turn("Again.", [build]),
        Turn("The build passes now."),
    ]


def play_fix(sandbox: ClientSandbox) -> str:
    """A session in which the build is repaired; its id."""
    break_build(sandbox.project)
    session = sandbox.play(PROMPT, *failing_then_passing(sandbox))
    assert FIXED.strip() in (sandbox.project / CONFIG).read_text()
    return session


def have_skill(sandbox: ClientSandbox) -> str:
    """What `learn_fix` comes to, put into the library by hand; the name of the skill."""
    name = "site-build-needs-manifest"
    SkillLibrary(sandbox.state / "skills").create(
        CreateSkill(
            name,
            f"Use when `{BUILD}` stops with BuildError: E417 asset pipeline has no manifest.",
            f"## Steps\n1. Add `manifest: public/manifest.json` to `{CONFIG}`.\n\n"
            f"## Check\n`{BUILD}` prints `built 12 pages`; before, it printed `E417`.\n",
            (),
        ),
        state="candidate",
        scope=project_key(sandbox.project.resolve()),
        project_slug="p",
        origin="offline",
        session="s",
    )
    sandbox.run("approve", name)
    return name


def long_sleep(sandbox: ClientSandbox) -> tuple[Body, Path]:
    """A call that lasts, and the file that exists once it is under way."""
    begun = sandbox.home / "sleep-has-begun"
    command = f"touch {begun}; python3 -c 'import time; time.sleep(60)'"
    return sandbox.shell(command), begun


def learn_fix(sandbox: ClientSandbox) -> str:
    """Two sessions that prove the same fix; the name of the skill."""
    for _ in range(2):
        sandbox.wait_for_review(play_fix(sandbox))
    (skill,) = sandbox.json("list")
    return str(skill["name"])
