"""What the workers of one PostgreSQL library share beside skills: who reviews what, and the day's
spend. Leases and days go by the server's clock; those of the workers do not matter.

A server that cannot be reached, or that refuses, forbids nothing: the worker then goes by its own
ceilings. Every statement here may be repeated: an answer that was lost counts nothing twice.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Collection, Mapping

from skill_learner.errors import CeilingReachedError, RemoteError
from skill_learner.remotes.postgres_connection import PostgresConnection

LEASE_SECONDS = 900
COOL_SECONDS = 3_600
"""For so long after a review nobody reviews the same thing again; later evidence counts."""
FAILURES_BEFORE_A_REST = 3
MOST_FAILURES = 9
"""Reviews of one episode that failed, those in a row of one worker as one. After each third it
rests for `COOL_SECONDS`; after the last it counts as reviewed."""

_CLOSE_SECONDS = 2.0
_DAYS_KEPT = 2

_OFFER = """
    INSERT INTO skill_learner.reviews (library, episode)
    SELECT %(library)s, e FROM unnest(%(episodes)s::text[]) AS e ORDER BY e ON CONFLICT DO NOTHING
"""
_TAKE = """
    WITH free AS (
        SELECT episode FROM skill_learner.reviews
        WHERE library = %(library)s AND episode = ANY(%(episodes)s)
            AND (lease_until < now() OR (holder = %(holder)s AND NOT done))
        ORDER BY episode FOR UPDATE)
    UPDATE skill_learner.reviews AS r SET holder = %(holder)s, done = false,
        attempts = CASE WHEN r.done THEN 1
            WHEN split_part(r.holder, '/', 1) = %(machine)s AND r.attempts > 0 THEN r.attempts
            ELSE r.attempts + 1 END,
        lease_until = now() + make_interval(secs => %(seconds)s)
    FROM free WHERE r.library = %(library)s AND r.episode = free.episode
    RETURNING r.episode
"""
_HOW_LONG = """
    SELECT extract(epoch FROM greatest(lease_until, now() + interval '1 second') - now())::float8
    FROM skill_learner.reviews
    WHERE library = %(library)s AND episode = ANY(%(episodes)s) AND NOT done ORDER BY 1 DESC LIMIT 1
"""
_END = """
    UPDATE skill_learner.reviews SET {changes}
    WHERE library = %(library)s AND episode = ANY(%(episodes)s) AND holder = %(holder)s AND NOT done
"""
_FINISH = _END.format(
    changes="done = true, attempts = 0, lease_until = now() + make_interval(secs => %(seconds)s)"
)
_LET_GO = _END.format(
    changes="holder = '', attempts = greatest(0, attempts - 1), lease_until = '-infinity'"
)
_FAIL = _END.format(
    changes="""holder = %(machine)s::text || '/', done = attempts >= %(most)s,
        lease_until = CASE WHEN mod(attempts, %(rest_after)s) = 0
            THEN now() + make_interval(secs => %(seconds)s) ELSE '-infinity' END"""
)
_ENTER = """
    INSERT INTO skill_learner.reservations (library, id, reviews, tokens)
    VALUES (%(library)s, %(id)s, %(reviews)s, %(tokens)s) ON CONFLICT DO NOTHING
"""
_RESERVE = """
    WITH mine AS (
        SELECT day, reviews, tokens FROM skill_learner.reservations
        WHERE library = %(library)s AND id = %(id)s AND NOT counted FOR UPDATE
    ), counted AS (
        INSERT INTO skill_learner.spend AS s (library, day, reviews, tokens)
        SELECT %(library)s, day, reviews, tokens FROM mine
        ON CONFLICT (library, day) DO UPDATE SET reviews = s.reviews + excluded.reviews,
            tokens = s.tokens + excluded.tokens
        WHERE s.reviews + excluded.reviews <= %(most_reviews)s
            AND s.tokens + excluded.tokens <= %(most_tokens)s
        RETURNING day
    ), noted AS (
        UPDATE skill_learner.reservations SET counted = true
        WHERE library = %(library)s AND id = %(id)s AND EXISTS (SELECT FROM counted)
    )
    SELECT day FROM counted
"""
_IS_COUNTED = """
    SELECT day FROM skill_learner.reservations
    WHERE library = %(library)s AND id = %(id)s AND counted
"""
_SETTLE = """
    WITH mine AS (
        SELECT day, reviews, tokens FROM skill_learner.reservations
        WHERE library = %(library)s AND id = %(id)s AND counted FOR UPDATE
    ), noted AS (
        UPDATE skill_learner.reservations SET tokens = %(tokens)s,
            reviews = CASE WHEN %(made)s THEN reviews ELSE 0 END
        WHERE library = %(library)s AND id = %(id)s AND EXISTS (SELECT FROM mine)
    )
    UPDATE skill_learner.spend AS s SET tokens = greatest(0, s.tokens + %(tokens)s - mine.tokens),
        reviews = greatest(0, s.reviews - CASE WHEN %(made)s THEN 0 ELSE mine.reviews END)
    FROM mine WHERE s.library = %(library)s AND s.day = mine.day
"""
_FORGET_OLD = """
    DELETE FROM skill_learner.reservations
    WHERE library = %(library)s AND day < (now() AT TIME ZONE 'UTC')::date - %(days)s::int
"""


class Fleet:
    """job: whose lease it is. A job that starts again, also in another process of the same machine,
    has its lease back: whoever runs a job holds this machine's lock for it.

    on_trouble: is told, after each question, why the worker goes on alone, "" when it does not.
    """

    def __init__(
        self,
        connection: PostgresConnection,
        machine: str,
        on_trouble: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._connection = connection
        self._machine = machine
        self._on_trouble = on_trouble
        self._nobody = secrets.token_hex(4)
        self._lock = threading.Lock()
        self._held: dict[str, set[str]] = {}
        self._is_closed = False

    def take(
        self, episodes: Collection[str], job: str = "", *, seconds: float = LEASE_SECONDS
    ) -> tuple[frozenset[str], float]:
        """Those of the episodes that nobody else reviews now, or did lately; they are the job's
        until the lease ends. With seconds until others let go of the rest, 0 when none of it is to
        be reviewed any more. A worker that dies lets go by the end of its lease."""
        given = {**self._given(episodes, job), "seconds": seconds}
        rows = None if self._run(_OFFER, given) is None else self._run(_TAKE, given)
        if rows is None:
            return frozenset(episodes), 0.0
        ours = frozenset(str(row[0]) for row in rows)
        self._held.setdefault(job, set()).update(ours)
        others = sorted(set(episodes) - ours)
        waits = self._run(_HOW_LONG, {"episodes": others}) if others else []
        return ours, float(str(waits[0][0])) if waits else 0.0

    def finish(
        self, episodes: Collection[str], job: str = "", *, seconds: float = COOL_SECONDS
    ) -> None:
        self._end(_FINISH, episodes, job, {"seconds": seconds})

    def release(self, episodes: Collection[str], job: str = "", *, failed: bool = False) -> None:
        """Let go of episodes, for anybody to try again. failed: a review of them did, and several
        such in a row are enough."""
        bounds = {"most": MOST_FAILURES, "rest_after": FAILURES_BEFORE_A_REST}
        values = {**bounds, "seconds": COOL_SECONDS}
        self._end(_FAIL if failed else _LET_GO, episodes, job, values)

    def reserve(self, tokens: int, *, first: bool, most_reviews: int, most_tokens: int) -> str:
        """Count a call before it is made; CeilingReachedError when the fleet's day is used up.
        Returns an id for `settle`."""
        reservation = secrets.token_hex(8)
        reviews = int(first)
        given = {"id": reservation, "reviews": reviews, "tokens": tokens}
        ceilings = {"most_reviews": most_reviews, "most_tokens": most_tokens}
        if reviews <= most_reviews and tokens <= most_tokens:
            if first:
                self._run(_FORGET_OLD, {"days": _DAYS_KEPT})
            if self._run(_ENTER, given) is None:
                return reservation
            for statement in (_RESERVE, _IS_COUNTED):
                rows = self._run(statement, {**given, **ceilings})
                if rows is None or rows:
                    return reservation
        raise CeilingReachedError(
            "the fleet's reviews or tokens of today are used",
            "it goes on tomorrow; `daily_reviews` and `daily_tokens` set the ceilings",
        )

    def settle(self, reservation: str, tokens: int, *, made: bool = True) -> None:
        """Put what a call came to in place of its estimate, on the day that it was counted on.
        made: whether there was one; else its review is given back, too."""
        self._run(_SETTLE, {"id": reservation, "tokens": tokens, "made": made})

    def close(self) -> None:
        """Let go of what is held, if the server answers soon, and of the connection. Whoever still
        works goes on, with a connection for each question."""
        self._is_closed = True
        closing = threading.Thread(target=self._close, name="skill-learner fleet", daemon=True)
        try:
            closing.start()
        except RuntimeError:  # the interpreter is ending
            return
        closing.join(_CLOSE_SECONDS)

    # -- below ---------------------------------------------------------------------------------

    def _close(self) -> None:
        for job, episodes in list(self._held.items()):
            self.release(set(episodes), job)
        with self._lock:
            self._connection.close()

    def _end(
        self, statement: str, episodes: Collection[str], job: str, values: Mapping[str, object]
    ) -> None:
        """Without an answer the lease ends by itself."""
        held = self._held.get(job, set())
        held.difference_update(episodes)
        if not held:
            self._held.pop(job, None)
        if episodes:
            self._run(statement, {**self._given(episodes, job), **values})

    def _given(self, episodes: Collection[str], job: str) -> dict[str, object]:
        holder = f"{self._machine}/{job or self._nobody}"
        return {"episodes": sorted(set(episodes)), "holder": holder, "machine": self._machine}

    def _run(self, statement: str, values: Mapping[str, object]) -> list[tuple[object, ...]] | None:
        """The rows of a statement; None when the worker is on its own."""
        given = {**values, "library": self._connection.library}
        with self._lock:
            try:
                rows = self._connection.run(statement, given)
            except RemoteError as problem:
                self._on_trouble(problem.message)
                return None
            finally:
                if self._is_closed:
                    self._connection.close()
        self._on_trouble("")
        return rows
