"""Which Python the hooks start."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from skill_learner.errors import InstallError
from skill_learner.install.interpreter import hook_interpreter

SHORT_LIVED = [
    "/home/u/.cache/uv/archive-v0/AbC",
    "/home/u/.cache/uv/builds-v0/.tmpX/",
    "/tmp/elsewhere/archive-v1/x",
    "/home/u/.cache/uv/environments-v2/script-1",
    "/home/u/.local/pipx/.cache/0a1b",
    "/home/u/.cache/pipx/0a1b",
    r"C:\Users\u\AppData\Local\uv\cache\archive-v0\x",
]


def python_in(folder: Path, content: bytes = b"\x7fELF") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "python"
    path.write_bytes(content)
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("prefix", SHORT_LIVED)
def test_a_folder_that_its_tool_removes_is_refused(prefix: str) -> None:
    with pytest.raises(InstallError) as caught:
        hook_interpreter(f"{prefix}/bin/python", prefix, "/usr")
    assert "pipx install skill-learner" in caught.value.hint
    assert "uv tool install skill-learner" in caught.value.hint


def test_the_running_environment_is_taken_by_its_own_path() -> None:
    found = hook_interpreter()
    assert found == Path(sys.executable) if sys.prefix != sys.base_prefix else found.is_absolute()


def test_a_virtual_environment_keeps_its_own_name_for_python(tmp_path: Path) -> None:
    real = python_in(tmp_path / "real")
    link = tmp_path / "venv/bin/python"
    link.parent.mkdir(parents=True)
    link.symlink_to(real)
    assert hook_interpreter(str(link), str(tmp_path / "venv"), str(tmp_path / "real")) == link


def test_outside_of_one_links_are_resolved(tmp_path: Path) -> None:
    real = python_in(tmp_path / "real")
    link = tmp_path / "bin/python3"
    link.parent.mkdir()
    link.symlink_to(real)
    assert hook_interpreter(str(link), str(tmp_path), str(tmp_path)) == real


def test_a_shim_is_passed_over(tmp_path: Path) -> None:
    venv_python = python_in(tmp_path / "venv/bin")
    for shim in (
        python_in(tmp_path / ".pyenv/shims"),
        python_in(tmp_path / "wrapper", b"#!/bin/sh\nexec pyenv exec python\n"),
    ):
        assert hook_interpreter(str(shim), str(tmp_path / "venv"), "/usr") == venv_python
        with pytest.raises(InstallError, match="shim"):
            hook_interpreter(str(shim), str(tmp_path / "nothing"), "/usr")


def test_no_interpreter_at_all_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InstallError, match="no executable"):
        hook_interpreter("", str(tmp_path), "/usr")
