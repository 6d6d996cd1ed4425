"""What the LLM calls cost: an append-only ledger, and the daily ceilings that are kept with it.

Two lines make a call: `begin`, written under a lock together with the check of the ceilings (so
that no number of processes can spend more than allowed), and `end` with what it cost. A call whose
end is missing (its process died) counts with its estimate. A torn last line is passed over.

A day is the calendar day of this machine's time zone, since that is what a person means by "per
day"; the lines hold epoch seconds.
"""

from __future__ import annotations

import datetime
import json
import secrets
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skill_learner.errors import CeilingReachedError
from skill_learner.files import append_line, locked
from skill_learner.models import CallResult, Usage

_TAIL_BYTES = 65_536


@dataclass(frozen=True)
class Ceilings:
    """At most so many LLM reviews, and tokens in and out, per day; 0 forbids LLM reviews."""

    reviews: int
    tokens: int


@dataclass(frozen=True)
class Call:
    """One LLM call; result is "unfinished" while (or for ever when) its end is missing."""

    id: str
    job: str
    at: float
    provider: str
    model: str
    tokens_in: int
    tokens_out: int
    cost_usd: float | None
    result: str


@dataclass(frozen=True)
class Spend:
    """Sums over some calls. cost_usd sums the calls whose cost is known; cost_known says whether
    that is all of them."""

    reviews: int = 0
    calls: int = 0
    tokens: int = 0
    cost_usd: float = 0.0
    cost_known: bool = True


@dataclass(frozen=True)
class DaySpend:
    """One row of `stats --spend`."""

    day: str
    provider: str
    result: str
    spend: Spend


class Ledger:
    def __init__(self, path: Path, *, clock: Callable[[], float] = time.time) -> None:
        self.path = path
        self._clock = clock

    def meter(self, job: str, provider: str, model: str, ceilings: Ceilings | None) -> LedgerMeter:
        """The meter for one review; without ceilings calls are recorded and never refused."""
        return LedgerMeter(self, job, provider, model, ceilings)

    def begin(
        self, call: Call, ceilings: Ceilings | None, *, estimate: int, first_of_review: bool
    ) -> None:
        """Record that `call` starts; raises CeilingReachedError, and records nothing, when today's
        spend plus this call's estimate would pass a ceiling."""
        with locked(self.path.with_name(self.path.name + ".lock")):
            if ceilings is not None:
                self.check(ceilings, estimate, first_of_review=first_of_review)
            line = {"kind": "begin", "call": call.id, "t": call.at, "job": call.job}
            line |= {"provider": call.provider, "model": call.model, "tokens": estimate}
            self._append(line)

    def end(self, call_id: str, usage: Usage | None, result: CallResult) -> None:
        line: dict[str, Any] = {"kind": "end", "call": call_id, "t": self._clock()}
        line["result"] = result
        if usage is not None:
            line |= {"model": usage.model, "in": usage.tokens_in, "out": usage.tokens_out}
            line["cost_usd"] = usage.cost_usd
        self._append(line)

    def today(self) -> Spend:
        return summed(self.calls_of_today())

    def calls_of_today(self) -> list[Call]:
        return self.calls(since=self._midnight())

    def calls(self, since: float = 0.0) -> list[Call]:
        """The calls begun at or after `since`, oldest first."""
        begun: dict[str, Call] = {}
        for line in self._lines(since):
            if line.get("kind") == "begin" and line["t"] >= since:
                begun[line["call"]] = _begun(line)
            elif line.get("kind") == "end" and line["call"] in begun:
                begun[line["call"]] = _ended(begun[line["call"]], line)
        return list(begun.values())

    def now(self) -> float:
        return self._clock()

    def check(self, ceilings: Ceilings, estimate: int = 0, *, first_of_review: bool = True) -> None:
        """Raise CeilingReachedError when a call would pass a ceiling as things stand; reserves
        nothing."""
        spent = self.today()
        if first_of_review and spent.reviews >= ceilings.reviews:
            raise CeilingReachedError(
                f"{spent.reviews} of {ceilings.reviews} reviews of today are used",
                "it goes on tomorrow; `daily_reviews` sets the ceiling",
            )
        if spent.tokens + estimate > ceilings.tokens:
            raise CeilingReachedError(
                f"{spent.tokens} of {ceilings.tokens} tokens of today are used, "
                f"and the next call may need {estimate}",
                "it goes on tomorrow; `daily_tokens` sets the ceiling",
            )

    def _midnight(self) -> float:
        today = datetime.datetime.fromtimestamp(self._clock()).date()
        return datetime.datetime.combine(today, datetime.time.min).timestamp()

    def _append(self, line: dict[str, Any]) -> None:
        append_line(self.path, json.dumps(line).encode())

    def _lines(self, since: float) -> list[dict[str, Any]]:
        """Whole lines that may concern calls begun since then: the file's end, in a window that
        grows until its first line is older, so that a day's sum does not cost years of reading."""
        try:
            with self.path.open("rb") as handle:
                size = handle.seek(0, 2)
                window = _TAIL_BYTES if since else size
                while True:
                    start = max(0, size - window)
                    handle.seek(start)
                    data = handle.read(size - start)
                    if start:
                        data = data.partition(b"\n")[2]
                    lines = _parsed(data)
                    if start == 0 or (lines and lines[0]["t"] < since):
                        return lines
                    window *= 4
        except FileNotFoundError:
            return []


class LedgerMeter:
    """Counts the calls of one review (a `CallMeter`). The first call counts as a review."""

    def __init__(
        self, ledger: Ledger, job: str, provider: str, model: str, ceilings: Ceilings | None
    ) -> None:
        self._ledger = ledger
        self._job = job
        self._provider = provider
        self._model = model
        self._ceilings = ceilings
        self._open = ""
        self._begun = 0

    def begin(self, tokens: int) -> None:
        call = Call(
            id=secrets.token_hex(8),
            job=self._job,
            at=self._ledger.now(),
            provider=self._provider,
            model=self._model,
            tokens_in=tokens,
            tokens_out=0,
            cost_usd=None,
            result="unfinished",
        )
        first = self._begun == 0
        self._ledger.begin(call, self._ceilings, estimate=tokens, first_of_review=first)
        self._open = call.id
        self._begun += 1

    def end(self, usage: Usage | None, result: CallResult) -> None:
        self._ledger.end(self._open, usage, result)


def summed(calls: Iterable[Call]) -> Spend:
    """The sum of some calls; those that were never sent count for nothing."""
    sent = [call for call in calls if call.result != "unavailable"]
    return Spend(
        reviews=len({call.job for call in sent}),
        calls=len(sent),
        tokens=sum(call.tokens_in + call.tokens_out for call in sent),
        cost_usd=sum(call.cost_usd or 0.0 for call in sent),
        cost_known=all(call.cost_usd is not None for call in sent),
    )


def by_day(calls: Iterable[Call]) -> list[DaySpend]:
    """Calls by local day, provider and result; newest day first."""
    groups: dict[tuple[str, str, str], list[Call]] = {}
    for call in calls:
        day = datetime.datetime.fromtimestamp(call.at).date().isoformat()
        groups.setdefault((day, call.provider, call.result), []).append(call)
    ordered = sorted(groups, key=lambda key: (key[1], key[2]))
    ordered.sort(key=lambda key: key[0], reverse=True)
    return [DaySpend(*key, spend=summed(groups[key])) for key in ordered]


def _parsed(data: bytes) -> list[dict[str, Any]]:
    lines = []
    for raw in data.splitlines():
        try:
            line = json.loads(raw)
        except (ValueError, RecursionError):
            continue
        if not isinstance(line, dict) or not isinstance(line.get("call"), str):
            continue
        if isinstance(line.get("t"), (int, float)):
            lines.append(line)
    return lines


def _begun(line: dict[str, Any]) -> Call:
    return Call(
        id=line["call"],
        job=str(line.get("job", "")),
        at=line["t"],
        provider=str(line.get("provider", "")),
        model=str(line.get("model", "")),
        tokens_in=_count(line.get("tokens")),
        tokens_out=0,
        cost_usd=None,
        result="unfinished",
    )


def _ended(call: Call, line: dict[str, Any]) -> Call:
    """Without a usage in the end line the estimate stays: the provider may have charged for it."""
    known = "in" in line
    cost = line.get("cost_usd")
    return Call(
        id=call.id,
        job=call.job,
        at=call.at,
        provider=call.provider,
        model=str(line.get("model") or call.model),
        tokens_in=_count(line["in"]) if known else call.tokens_in,
        tokens_out=_count(line.get("out")) if known else 0,
        cost_usd=float(cost) if isinstance(cost, (int, float)) else None,
        result=str(line.get("result", "error")),
    )


def _count(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0
