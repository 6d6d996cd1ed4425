"""What ARCHITECTURE.md promises and import-linter cannot see."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "skill_learner"
MODULES = sorted(PACKAGE.rglob("*.py"))

LONGEST_MODULE = 300
LONGER_MODULES: dict[str, str] = {
    "models.py": "the records that all layers share, without behaviour",
    "engine.py": "one class: the documented methods, each with its contract",
    "skills/library.py": "the one door through which a library changes",
    "targets/codex.py": "an editor is one module; this one is asked what it trusts",
    "targets/cursor.py": "an editor is one module",
}
"""Modules above the limit, each with the reason why it is one thing."""

LONGEST_FUNCTION = 45
LONGER_FUNCTIONS: dict[str, str] = {}


def relative(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


@cache
def nodes(path: Path) -> list[ast.AST]:
    return list(ast.walk(ast.parse(path.read_bytes())))


def imported(path: Path) -> set[str]:
    """Top-level names of every module that `path` imports anywhere in it."""
    names: set[str] = set()
    for node in nodes(path):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.split(".")[0])
    return names


def calls(path: Path) -> set[str]:
    """Names that `path` calls: `print`, `sys.exit`, `os._exit`."""
    return {
        ast.unparse(node.func)
        for node in nodes(path)
        if isinstance(node, ast.Call) and isinstance(node.func, (ast.Name, ast.Attribute))
    }


def functions(path: Path) -> Iterator[tuple[str, int]]:
    for node in nodes(path):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield f"{relative(path)}:{node.name}", (node.end_lineno or 0) - node.lineno + 1


def test_only_the_console_module_uses_rich() -> None:
    assert [relative(path) for path in MODULES if "rich" in imported(path)] == ["cli/console.py"]


def test_click_stays_in_the_command_line() -> None:
    users = {relative(path) for path in MODULES if "click" in imported(path)}
    assert users
    assert all(user.startswith("cli/") for user in users), users


def test_yaml_is_read_in_two_places() -> None:
    users = {relative(p) for p in MODULES if imported(p) & {"yaml", "frontmatter"}}
    assert users <= {"skills/front_matter_yaml.py", "config_file.py"}


PRINTS = {"print", "sys.stdout.write", "sys.stderr.write", "click.echo"}
EXITS = {"exit", "quit", "_exit", "SystemExit", "abort"}
"""By the last part of the name: `sys.exit`, `os._exit`, `system._exit`, `raise SystemExit()`."""

LEAVING_MODULES: dict[str, str] = {
    "hook_runtime/process.py": "the hook's own process",
    "hook_runtime/detach.py": "the forks between a hook and its review",
    "hook_runtime/late_input.py": "the hook that leaves a slow input to a fork",
    "pipeline/runner.py": "a review that is asked to end unwinds",
}
"""Modules outside of the commands that end a process, each with whose."""


def at_the_edge(path: Path) -> bool:
    return relative(path).startswith("cli/") or relative(path) == "hook_runtime/process.py"


@pytest.mark.parametrize("path", MODULES, ids=relative)
def test_print_stands_at_the_edges(path: Path) -> None:
    assert at_the_edge(path) or not calls(path) & PRINTS


def test_exit_stands_at_the_edges_and_where_processes_of_our_own_end() -> None:
    leaving = {
        relative(path)
        for path in MODULES
        if not relative(path).startswith("cli/")
        and {call.rpartition(".")[2] for call in calls(path)} & EXITS
    }
    assert leaving == set(LEAVING_MODULES)
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    assert [name for name in LEAVING_MODULES if f"`{name}`" not in text] == []


def test_modules_stay_small() -> None:
    sizes = {relative(path): len(path.read_bytes().splitlines()) for path in MODULES}
    too_long = {name for name, lines in sizes.items() if lines > LONGEST_MODULE}
    assert too_long == set(LONGER_MODULES), {name: sizes[name] for name in too_long}


def test_functions_stay_small() -> None:
    sizes = dict(size for path in MODULES for size in functions(path))
    too_long = {name for name, lines in sizes.items() if lines > LONGEST_FUNCTION}
    assert too_long == set(LONGER_FUNCTIONS), {name: sizes[name] for name in too_long}


def test_no_module_is_a_drawer_for_everything() -> None:
    drawers = {"utils", "util", "helpers", "helper", "misc", "common"}
    assert not {path.stem for path in MODULES} & drawers


def named_modules(text: str) -> set[str]:
    """Names in backticks that look like modules, packages or files of the tree."""
    names = re.findall(r"`([a-z_]+(?:[./][a-z_]+)*(?:\.py|/)?)`", text)
    return {name for name in names if "." in name or "/" in name}


def exists(name: str) -> bool:
    as_path = name if name.endswith((".py", "/")) else name.replace(".", "/")
    places = [
        base / candidate
        for base in (PACKAGE, ROOT)
        for candidate in (as_path, f"{as_path}.py", name)
    ]
    return any(place.exists() for place in places)


def test_every_module_that_architecture_names_exists() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    before, on_disk, after = re.split(r"^(?=## (?:What is on disk|Arrows))", text, flags=re.M)
    names = named_modules(before + after) - named_modules(on_disk)
    assert len(names) >= 8
    assert [name for name in sorted(names) if not exists(name)] == []


def test_every_state_path_stands_in_the_table_of_architecture() -> None:
    from skill_learner.paths import StatePaths

    table = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").split("## What is on disk")[1]
    root = Path("/state")
    properties = [name for name, value in vars(StatePaths).items() if isinstance(value, property)]
    named = {name: getattr(StatePaths(root), name).relative_to(root) for name in properties}
    assert len(named) > 10
    assert [name for name, path in named.items() if f"`{path}" not in table] == []


def test_purging_knows_every_row_of_the_table_of_architecture() -> None:
    from skill_learner.install.purge import is_ours

    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    table = text.split("## What is on disk")[1].split("\n## ")[0]
    rows = [line.split(" | ")[0] for line in table.splitlines() if line.startswith("| `")]
    names = {name.partition("/")[0] for row in rows for name in re.findall(r"`([^`(]+)`", row)}
    in_state = names - {"skills_dir", ".state", ".index.sqlite"}
    assert len(in_state) > 20
    assert [name for name in sorted(in_state) if not is_ours(name)] == []


def test_every_script_in_python_is_checked() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    ruff, mypy = (
        re.findall(r'"(scripts/[^"]+)"', re.findall(rf"(?ms)^{key} = \[.*?^\]", project)[0])
        for key in ("extend-include", "files")
    )
    bare = [path for path in (ROOT / "scripts").iterdir() if path.is_file() and not path.suffix]
    scripts = [path for path in bare if b"python" in path.read_bytes().partition(b"\n")[0]]
    assert len(scripts) > 10
    for script in scripts:
        for patterns in (ruff, mypy):
            assert any(fnmatch(f"scripts/{script.name}", one) for one in patterns), script.name
