"""The README's tables say what the program says."""

from __future__ import annotations

import importlib.util
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_table_of_commands_is_the_programs() -> None:
    script = ROOT / "scripts" / "readme_tables.py"
    spec = importlib.util.spec_from_file_location("readme_tables", script)
    assert spec is not None
    assert spec.loader is not None
    tables = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tables)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert readme == tables.with_tables(readme), "run `python scripts/readme_tables.py`"
