from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DATA = ("hooks", "templates")

pytestmark = pytest.mark.process


def data_files(folder: Path) -> set[str]:
    return {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def run_python(package_folder: Path, *arguments: str, **environment: str) -> str:
    """Python that sees the package in `package_folder` only, without site-packages of this run."""
    done = subprocess.run(
        [sys.executable, "-S", *arguments],
        cwd=package_folder,
        env=dict(os.environ, PYTHONPATH=str(package_folder), **environment),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("kind", DATA)
def test_the_wheel_holds_every_hook_and_template(wheel: Path, kind: str) -> None:
    expected = data_files(ROOT / kind)
    assert expected, f"{kind}/ is empty"
    prefix = f"skill_learner/_data/{kind}/"
    names = zipfile.ZipFile(wheel).namelist()
    assert {n[len(prefix) :] for n in names if n.startswith(prefix)} >= expected


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert tops == {"skill_learner", f"{wheel.name.rsplit('-', 3)[0]}.dist-info"}
    assert "skill_learner/py.typed" in names
    assert not [name for name in names if "__pycache__" in name]


FIND = """
from skill_learner.paths import data_dir
for kind in ("hooks", "templates"):
    folder = data_dir(kind)
    assert folder.is_dir() and any(folder.iterdir()), folder
    print(folder)
"""


def test_an_installed_wheel_finds_its_data_inside_itself(installed_package: Path) -> None:
    found = run_python(installed_package, "-c", FIND).split()
    inside = installed_package.resolve() / "skill_learner" / "_data"
    assert [Path(line) for line in found] == [inside / kind for kind in DATA]


def test_a_checkout_finds_its_data_beside_the_package() -> None:
    found = run_python(ROOT, "-c", FIND).split()
    assert [Path(line) for line in found] == [ROOT / kind for kind in DATA]


def test_the_installed_command_line_starts(installed_package: Path, dependencies: str) -> None:
    program = (
        f"import sys; sys.path += {dependencies.split(os.pathsep)!r}; sys.argv = ['x', '--help']; "
    )
    program += "import runpy; runpy.run_module('skill_learner', run_name='__main__')"
    printed = run_python(installed_package, "-c", program)
    assert "init" in printed


def test_version_is_that_of_the_changelog(wheel: Path) -> None:
    from skill_learner import __version__

    assert wheel.name.startswith(f"skill_learner-{__version__}-")
    assert f"\n## {__version__}\n" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
