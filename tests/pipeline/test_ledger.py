from __future__ import annotations

import datetime
import json
import multiprocessing
from pathlib import Path

import pytest

from skill_learner.errors import CeilingReachedError
from skill_learner.ledger import Ceilings, Ledger, by_day
from skill_learner.models import Usage

NOON = datetime.datetime(2026, 3, 10, 12).timestamp()
A_DAY = 86_400.0


def ledger_at(path: Path, now: float = NOON) -> Ledger:
    return Ledger(path, clock=lambda: now)


def usage(tokens_in: int, tokens_out: int, cost: float | None = None) -> Usage:
    return Usage("claude-cli", "a-model", tokens_in, tokens_out, cost)


def book(ledger: Ledger, job: str, spent: Usage | None, result: str = "ok") -> None:
    meter = ledger.meter(job, "claude-cli", "", None)
    meter.begin(100)
    meter.end(spent, result)  # type: ignore[arg-type]


def test_a_day_sums_its_calls(tmp_path: Path) -> None:
    ledger = ledger_at(tmp_path / "ledger.jsonl")
    meter = ledger.meter("job1", "claude-cli", "", None)
    meter.begin(1_000)
    meter.end(usage(900, 50, 0.01), "faulty")
    meter.begin(1_000)
    meter.end(usage(950, 60, 0.02), "ok")

    spent = ledger.today()

    assert (spent.reviews, spent.calls, spent.tokens) == (1, 2, 1_960)
    assert spent.cost_usd == pytest.approx(0.03)
    assert spent.cost_known


def test_an_unknown_cost_is_said(tmp_path: Path) -> None:
    ledger = ledger_at(tmp_path / "ledger.jsonl")
    book(ledger, "job1", usage(1, 1, 0.01))
    book(ledger, "job2", usage(1, 1))
    assert not ledger.today().cost_known


def test_yesterday_does_not_count_today(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    book(ledger_at(path, NOON - A_DAY), "old", usage(500, 500))
    book(ledger_at(path), "new", usage(1, 1))

    assert ledger_at(path).today().tokens == 2
    assert [row.day for row in by_day(ledger_at(path).calls())] == ["2026-03-10", "2026-03-09"]


def test_a_call_over_midnight_belongs_to_the_day_it_began(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    evening = datetime.datetime(2026, 3, 9, 23, 59, 59).timestamp()
    meter = ledger_at(path, evening).meter("job", "claude-cli", "", None)
    meter.begin(100)
    late = ledger_at(path, evening + 5)
    late.end(json.loads(path.read_text().splitlines()[0])["call"], usage(10, 10), "ok")

    assert late.today().calls == 0
    assert by_day(late.calls())[0].day == "2026-03-09"
    assert by_day(late.calls())[0].spend.tokens == 20


def test_the_ceiling_of_reviews_refuses_and_books_nothing(tmp_path: Path) -> None:
    ledger = ledger_at(tmp_path / "ledger.jsonl")
    ceilings = Ceilings(reviews=2, tokens=10_000)
    for job in ("a", "b"):
        meter = ledger.meter(job, "claude-cli", "", ceilings)
        meter.begin(10)
        meter.end(usage(5, 5), "ok")
    before = ledger.path.read_bytes()

    with pytest.raises(CeilingReachedError, match="2 of 2 reviews") as refused:
        ledger.meter("c", "claude-cli", "", ceilings).begin(10)

    assert "daily_reviews" in refused.value.hint
    assert ledger.path.read_bytes() == before


def test_a_further_round_of_a_review_is_no_further_review(tmp_path: Path) -> None:
    ledger = ledger_at(tmp_path / "ledger.jsonl")
    meter = ledger.meter("a", "claude-cli", "", Ceilings(reviews=1, tokens=10_000))
    for _ in range(3):
        meter.begin(10)
        meter.end(usage(5, 5), "faulty")
    assert ledger.today().reviews == 1


def test_the_ceiling_of_tokens_counts_what_the_next_call_may_need(tmp_path: Path) -> None:
    ledger = ledger_at(tmp_path / "ledger.jsonl")
    ceilings = Ceilings(reviews=10, tokens=1_000)
    book(ledger, "a", usage(600, 100))

    ledger.meter("b", "claude-cli", "", ceilings).begin(300)
    with pytest.raises(CeilingReachedError, match="1000 of 1000 tokens"):
        ledger.meter("c", "claude-cli", "", ceilings).begin(1)


def test_zero_means_no_llm_review(tmp_path: Path) -> None:
    ledger = ledger_at(tmp_path / "ledger.jsonl")
    with pytest.raises(CeilingReachedError):
        ledger.meter("a", "claude-cli", "", Ceilings(reviews=0, tokens=1_000)).begin(1)


def test_what_was_never_sent_counts_for_nothing(tmp_path: Path) -> None:
    ledger = ledger_at(tmp_path / "ledger.jsonl")
    book(ledger, "a", None, "unavailable")

    spent = ledger.today()

    assert (spent.reviews, spent.calls, spent.tokens) == (0, 0, 0)
    assert by_day(ledger.calls())[0].result == "unavailable"


def test_a_call_without_an_end_counts_with_its_estimate(tmp_path: Path) -> None:
    ledger = ledger_at(tmp_path / "ledger.jsonl")
    ledger.meter("a", "claude-cli", "", None).begin(700)
    assert (ledger.today().reviews, ledger.today().tokens) == (1, 700)
    assert by_day(ledger.calls())[0].result == "unfinished"


def test_a_timeout_counts_with_its_estimate(tmp_path: Path) -> None:
    ledger = ledger_at(tmp_path / "ledger.jsonl")
    book(ledger, "a", None, "timeout")
    assert ledger.today().tokens == 100


def test_a_torn_last_line_costs_itself_only(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    ledger = ledger_at(path)
    book(ledger, "a", usage(10, 10))
    with path.open("ab") as handle:
        handle.write(b'{"kind": "begin", "call": "torn", "t": 17')

    book(ledger, "b", usage(20, 20))

    assert (ledger.today().reviews, ledger.today().tokens) == (2, 60)


def test_a_day_is_read_from_the_end_of_a_long_ledger(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    old = ledger_at(path, NOON - 30 * A_DAY)
    book(old, "old", usage(1, 1))
    path.write_bytes(path.read_bytes() * 3_000)  # far beyond the first window
    book(ledger_at(path), "new", usage(3, 4))

    assert ledger_at(path).today().tokens == 7


def test_a_busy_day_is_summed_whole(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    lines = []
    for number in range(1_000):
        begin = {"kind": "begin", "call": f"c{number}", "t": NOON, "job": f"j{number}"}
        lines += [begin, {"kind": "end", "call": f"c{number}", "t": NOON, "in": 1, "out": 1}]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))

    assert path.stat().st_size > 65_536
    assert ledger_at(path).today().tokens == 2_000


def _spend(path: Path, worker: int) -> None:
    ledger = Ledger(path)
    for number in range(10):
        meter = ledger.meter(f"{worker}-{number}", "p", "", Ceilings(reviews=7, tokens=10_000))
        try:
            meter.begin(100)
        except CeilingReachedError:
            continue
        meter.end(Usage("p", "m", 50, 50), "ok")


@pytest.mark.process
def test_four_processes_at_once_never_pass_a_ceiling(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    spawn = multiprocessing.get_context("spawn")
    processes = [spawn.Process(target=_spend, args=(path, worker)) for worker in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
        assert process.exitcode == 0

    assert (Ledger(path).today().reviews, Ledger(path).today().tokens) == (7, 700)
