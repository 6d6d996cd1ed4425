"""What the workers of one PostgreSQL library share beside skills: who reviews what, and the day's
spend. Leases and days go by the server's clock; those of the workers do not matter.

A server that cannot be reached forbids nothing: the worker then goes by its own ceilings.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping

from skill_learner.errors import CeilingReachedError, RemoteUnavailableError
from skill_learner.remotes.postgres_connection import PostgresConnection

LEASE_SECONDS = 900
COOL_SECONDS = 3_600
"""For so long after a review nobody reviews the same thing again; later evidence counts."""

_OFFER = """
    INSERT INTO skill_learner.reviews (library, episode)
    SELECT %(library)s, e FROM unnest(%(episodes)s::text[]) AS e ORDER BY e ON CONFLICT DO NOTHING
"""
_TAKE = """
    UPDATE skill_learner.reviews AS r SET holder = %(holder)s, done = false,
        attempts = attempts + 1, lease_until = now() + make_interval(secs => %(seconds)s)
    WHERE r.library = %(library)s AND r.episode IN (
        SELECT episode FROM skill_learner.reviews
        WHERE library = %(library)s AND episode = ANY(%(episodes)s)
            AND (lease_until < now() OR (holder = %(holder)s AND NOT done))
        ORDER BY episode FOR UPDATE SKIP LOCKED)
    RETURNING episode
"""
_END = """
    UPDATE skill_learner.reviews SET done = %(done)s,
        lease_until = now() + make_interval(secs => %(seconds)s)
    WHERE library = %(library)s AND episode = ANY(%(episodes)s) AND holder = %(holder)s
"""
_RESERVE = """
    INSERT INTO skill_learner.spend AS s (library, day, reviews, tokens)
    VALUES (%(library)s, (now() AT TIME ZONE 'UTC')::date, %(reviews)s, %(tokens)s)
    ON CONFLICT (library, day) DO UPDATE SET reviews = s.reviews + excluded.reviews,
        tokens = s.tokens + excluded.tokens
    WHERE s.reviews + excluded.reviews <= %(most_reviews)s
        AND s.tokens + excluded.tokens <= %(most_tokens)s
    RETURNING reviews
"""
_SETTLE = """
    UPDATE skill_learner.spend SET tokens = greatest(0, tokens + %(tokens)s)
    WHERE library = %(library)s AND day = (now() AT TIME ZONE 'UTC')::date
"""


class Fleet:
    def __init__(self, connection: PostgresConnection, machine: str) -> None:
        self._connection = connection
        self._holder = f"{machine}/{secrets.token_hex(4)}"

    def take(self, episodes: Collection[str], *, seconds: float = LEASE_SECONDS) -> frozenset[str]:
        """Those of the episodes that nobody else reviews now, or did lately; they are ours until
        the lease ends. A worker that dies lets go of them by then."""
        given = {"episodes": sorted(set(episodes)), "holder": self._holder, "seconds": seconds}
        try:
            self._run(_OFFER, given)
            return frozenset(str(row[0]) for row in self._run(_TAKE, given))
        except RemoteUnavailableError:
            return frozenset(episodes)

    def finish(self, episodes: Collection[str], *, seconds: float = COOL_SECONDS) -> None:
        self._end(episodes, True, seconds)

    def release(self, episodes: Collection[str]) -> None:
        """Let go of episodes whose review failed, for anybody to try again."""
        self._end(episodes, False, 0)

    def reserve(self, tokens: int, *, first: bool, most_reviews: int, most_tokens: int) -> None:
        """Count a call before it is made; CeilingReachedError when the fleet's day is used up."""
        reviews = int(first)
        given = {
            "reviews": reviews,
            "tokens": tokens,
            "most_reviews": most_reviews,
            "most_tokens": most_tokens,
        }
        try:
            fits = reviews <= most_reviews and tokens <= most_tokens
            if fits and self._run(_RESERVE, given):
                return
        except RemoteUnavailableError:
            return
        raise CeilingReachedError(
            "the fleet's reviews or tokens of today are used",
            "it goes on tomorrow; `daily_reviews` and `daily_tokens` set the ceilings",
        )

    def settle(self, tokens: int) -> None:
        """Correct an estimate by this much once the cost is known."""
        try:
            self._run(_SETTLE, {"tokens": tokens})
        except RemoteUnavailableError:
            return

    def close(self) -> None:
        self._connection.close()

    def _end(self, episodes: Collection[str], done: bool, seconds: float) -> None:
        given = {"episodes": sorted(episodes), "holder": self._holder}
        try:
            self._run(_END, {**given, "done": done, "seconds": seconds})
        except RemoteUnavailableError:
            return  # the lease ends by itself

    def _run(self, statement: str, values: Mapping[str, object]) -> list[tuple[object, ...]]:
        return self._connection.run(statement, {**values, "library": self._connection.library})
