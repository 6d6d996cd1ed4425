"""Figures of the evidence rules on planted proposals, and of near-duplicates on built pairs."""

from __future__ import annotations

import os
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

import pytest

REPOSITORY = Path(__file__).parents[2]
SHARED = Path(os.environ.get("SKILL_LEARNER_SHARED") or REPOSITORY.parent / "shared")


def script(name: str) -> ModuleType:
    loader = SourceFileLoader(f"script_{name}", str(REPOSITORY / "scripts" / name))
    spec = spec_from_loader(loader.name, loader)
    assert spec is not None
    module = module_from_spec(spec)
    sys.modules[loader.name] = module  # dataclasses look their module up
    loader.exec_module(module)
    return module


@pytest.mark.skipif(
    not (SHARED / "review").is_dir(), reason="the recorded answers are not on this machine"
)
def test_true_spans_stay_and_traps_are_caught() -> None:
    figures = script("bench_gate").measure(SHARED)
    assert figures.spans > 100
    assert figures.traps >= 20
    assert figures.rejected_share <= 0.02, figures.rejected
    assert figures.caught_share >= 0.70, figures.missed


@pytest.mark.skipif(
    not (SHARED / "retrieval").is_dir(), reason="the skills to pair are not on this machine"
)
def test_near_duplicates_are_told_from_skills_that_sound_alike() -> None:
    bench = script("bench_duplicates")
    scored = bench.score(SHARED, 40, 7)
    found = bench.figures(scored, bench.NEAR)
    assert found.precision >= 0.95
    assert found.recall >= 0.80
