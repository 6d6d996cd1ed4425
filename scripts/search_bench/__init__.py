"""The parts of scripts/bench_search."""
