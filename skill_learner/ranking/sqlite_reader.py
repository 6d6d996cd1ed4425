"""Reading the SQLite index, for the backend and for prompt hooks alike."""

from skill_learner.ranking.plan import THOROUGH, Plan
from skill_learner.ranking.score import Candidate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from sqlite3 import Connection

TOKENIZER = "porter unicode61 remove_diacritics 2"
WHOLE_WEIGHTS = "10.0, 5.0, 5.0, 5.0, 1.0, 0.3, 0.5, 0.15"
"""Of name, description, triggers, asks, prose, code, parts, bigrams."""

_MOST_IN_PASSING = 300
_PHRASE_CANDIDATES = 300


def prepare(connection: "Connection") -> None:
    """The temporary tables that take words apart as the index does."""
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.execute(
        "CREATE VIRTUAL TABLE IF NOT EXISTS temp.asked"
        f" USING fts5(word, content = '', columnsize = 0, tokenize = '{TOKENIZER}')"
    )
    connection.execute(
        "CREATE VIRTUAL TABLE IF NOT EXISTS temp.asked_terms"
        " USING fts5vocab('temp', 'asked', 'instance')"
    )


def frequencies(connection: "Connection", words: "Iterable[str]") -> dict[str, int]:
    """In how many documents each word occurs, for those that occur; of a word that the index takes
    for several, the rarest counts."""
    asked = list(words)
    if not asked:
        return {}
    prepare(connection)
    connection.execute("SAVEPOINT asking")
    try:
        connection.execute("INSERT INTO temp.asked(asked) VALUES ('delete-all')")
        connection.executemany(
            "INSERT INTO temp.asked(rowid, word) VALUES (?, ?)", enumerate(asked)
        )
        rows = connection.execute(
            "SELECT a.doc, min(v.doc) FROM temp.asked_terms a"
            " JOIN main.whole_terms v ON v.term = a.term GROUP BY a.doc"
        ).fetchall()
    finally:
        connection.execute("RELEASE asking")
    return {asked[number]: count for number, count in rows}


def name_words(connection: "Connection", beginning: str) -> list[str]:
    rows = connection.execute(
        "SELECT word FROM name_words WHERE word >= ? AND word < ?",
        (beginning, beginning + "\U0010ffff"),
    )
    return [word for (word,) in rows]


def holding(connection: "Connection", number: int, words: "Iterable[str]") -> set[str]:
    """Those of `words` that occur in the document with a number."""
    found = set()
    for word in words:
        there = connection.execute(
            "SELECT 1 FROM whole WHERE whole MATCH ? AND rowid = ?", (quoted(word), number)
        ).fetchone()
        if there:
            found.add(word)
    return found


def size(connection: "Connection") -> int:
    count = connection.execute("SELECT count(*) FROM documents").fetchone()[0]
    return int(count)


def match(
    connection: "Connection",
    plan: Plan,
    states: "Collection[str]",
    scopes: "Collection[str] | None",
    limit: int = THOROUGH.candidates,
) -> list[Candidate]:
    """The best documents for a plan, best first by the index's own score of the whole skill."""
    expression = _expression(plan)
    if not expression:
        return []
    condition, values = _eligible(states, scopes)
    others = connection.execute(
        "SELECT coalesce(max(id), 0) - (SELECT count(*) FROM documents d"
        f" WHERE {condition}) FROM documents",
        values,
    ).fetchone()[0]
    if others <= _MOST_IN_PASSING:
        # few rows to pass over: cheaper than a look at the document of every match
        rows = connection.execute(
            "SELECT d.key, d.name, d.summary, d.head, f.score, d.id FROM ("
            f"SELECT rowid AS id, -bm25(whole, {WHOLE_WEIGHTS}) AS score FROM whole"
            " WHERE whole MATCH ? ORDER BY score DESC LIMIT ?) f"
            f" JOIN documents d ON d.id = f.id WHERE {condition} ORDER BY f.score DESC LIMIT ?",
            [expression, limit + others, *values, limit],
        ).fetchall()
    else:
        rows = connection.execute(
            f"SELECT d.key, d.name, d.summary, d.head, -bm25(whole, {WHOLE_WEIGHTS}) AS score,"
            " d.id FROM whole JOIN documents d ON d.id = whole.rowid"
            f" WHERE whole MATCH ? AND {condition} ORDER BY score DESC LIMIT ?",
            [expression, *values, limit],
        ).fetchall()
    phrases = _phrases(connection, plan)
    return [
        Candidate(key, name, summary, head, score, phrases.get(number, 0.0), number)
        for key, name, summary, head, score, number in rows
    ]


def _phrases(connection: "Connection", plan: Plan) -> dict[int, float]:
    if not plan.pairs:
        return {}
    expression = " OR ".join(quoted(f"{first} {second}") for first, second in plan.pairs)
    rows = connection.execute(
        f"SELECT rowid, -bm25(whole, {WHOLE_WEIGHTS}) AS score FROM whole WHERE whole MATCH ?"
        " ORDER BY score DESC LIMIT ?",
        (expression, _PHRASE_CANDIDATES),
    )
    return dict(rows.fetchall())


def _expression(plan: Plan) -> str:
    """An FTS5 expression that any of the words matches. Each is quoted, so nothing is syntax."""
    parts = [quoted(word) for word in plan.words]
    if plan.bigrams:
        parts.append(f"bigrams : ({' OR '.join(map(quoted, plan.bigrams))})")
    return " OR ".join(parts)


def quoted(word: str) -> str:
    return '"' + word.replace("\x00", " ").replace('"', '""') + '"'


def _eligible(states: "Collection[str]", scopes: "Collection[str] | None") -> tuple[str, list[str]]:
    values = sorted(states)
    condition = f"d.state IN ({','.join('?' * len(values))})"
    if scopes is not None:
        condition += f" AND d.scope IN ({','.join('?' * len(scopes))})"
        values += sorted(scopes)
    return condition, values
