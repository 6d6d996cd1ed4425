"""Workers that share a PostgreSQL library: who reviews what, and what a day costs all of them."""

from __future__ import annotations

import json
import os
import select
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from postgres_databases import execute
from remote_homes import MakeHome

from skill_learner import SkillEngine
from skill_learner.cli.group import cli
from skill_learner.errors import CeilingReachedError
from skill_learner.remotes.fleet import MOST_FAILURES, Fleet
from skill_learner.remotes.last_syncs import last_syncs
from skill_learner.remotes.postgres_connection import PostgresConnection

pytestmark = pytest.mark.process


@pytest.fixture
def engine() -> str:
    return "postgres"


def fleet(url: str, machine: str) -> Fleet:
    return Fleet(PostgresConnection(url, "default"), machine)


class Llm:
    """during: what happens while it is asked."""

    provider_id = "scripted"

    def __init__(self, during: Callable[[], object] = lambda: None) -> None:
        self.asked = 0
        self._during = during

    def complete(self, messages: Any, tools: Any = None, max_tokens: int = 2048) -> str:
        self.asked += 1
        self._during()
        return json.dumps({"outcome": "x", "skills": [], "nothing_because": "nothing"})


def failing() -> None:
    raise RuntimeError("the model fails")


def worker(url: str, home: Path, llm: Llm | None, **settings: Any) -> SkillEngine:
    remote = {"url": url, "trust": "all", "every": 0, **settings.pop("remote", {})}
    given = {"review_timeout": 20, "semantic_threshold": 0.0, **settings}
    folders = {"skills_dir": str(home / "skills"), "state_dir": str(home / "state")}
    provider = given.pop("embedding_provider", None)
    return SkillEngine({**folders, "remotes": {"fleet": remote}, **given}, llm, provider)


def work(engine: SkillEngine, wait: float = 20, command: str = "make deploy") -> bool:
    """A conversation with one episode."""
    engine.on_session_start(command)
    for _ in range(3):
        engine.on_tool_call("bash", {"command": command}, "error: port 8080 in use", failed=True)
    engine.on_tool_call("bash", {"command": "kill $(lsof -t -i:8080)"}, "ok")
    engine.on_tool_call("bash", {"command": command}, "deployed")
    return engine.on_session_end([{"role": "user", "content": "deploy it"}], wait=wait)


def jobs(home: Path) -> list[dict[str, Any]]:
    return [json.loads(file.read_text()) for file in home.rglob("jobs/**/*.json")]


def until(holds: Callable[[], object], seconds: float = 15) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if holds():
            return True
        time.sleep(0.05)
    return False


# -- leases ---------------------------------------------------------------------------------------

_REVIEWING = """
import sys, time
from pathlib import Path
from test_fleets import Llm, work, worker
def during():
    print("asked", flush=True)
    time.sleep(600)
one = worker(sys.argv[1], Path(sys.argv[2]), Llm(during))
work(one, wait=0)
sys.stdin.readline()
print(one.close(0.1), flush=True)
"""


@pytest.mark.parametrize("is_killed", [True, False])
def test_a_worker_that_stops_in_a_review_reviews_at_its_next_start(
    postgres_url: str, tmp_path: Path, is_killed: bool
) -> None:
    here = Path(__file__).resolve()
    path = os.pathsep.join(map(str, (here.parent, here.parents[1] / "support", here.parents[2])))
    process = subprocess.Popen(
        [sys.executable, "-c", _REVIEWING, postgres_url, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": path},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"asked\n"
    if is_killed:
        process.kill()
    told, _ = process.communicate(None if is_killed else b"\n", timeout=20)
    assert told == (b"" if is_killed else b"False\n")
    rows = execute(postgres_url, "SELECT attempts, lease_until < now() FROM skill_learner.reviews")
    assert rows == [(1, False) if is_killed else (0, True)], "nobody waits for one that ended well"
    llm = Llm()
    with worker(postgres_url, tmp_path, llm):
        assert until(lambda: jobs(tmp_path)[0]["status"] == "done")
    assert llm.asked == 1
    assert not list(tmp_path.rglob("conversations/*.jsonl"))


def test_a_review_that_goes_on_behind_a_closed_engine_is_made_once(
    postgres_url: str, tmp_path: Path
) -> None:
    free = threading.Event()
    first, second = Llm(lambda: free.wait(20)), Llm()
    one = worker(postgres_url, tmp_path, first)
    work(one, wait=0)
    assert until(lambda: first.asked == 1)
    assert one.close(0) is False
    with worker(postgres_url, tmp_path, second):
        time.sleep(0.5)
        free.set()
        assert until(lambda: jobs(tmp_path)[0]["status"] == "done")
        assert second.asked == 0
    assert execute(postgres_url, "SELECT done FROM skill_learner.reviews") == [(True,)]


def test_an_engine_that_is_closed_leaves_no_connection(postgres_url: str, tmp_path: Path) -> None:
    one = worker(postgres_url, tmp_path, Llm(), embedding_provider=Vectors(2))
    assert work(one)
    one.get_relevant_skills("x")
    one.close()
    left = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'skill-learner'"
    left += " AND datname = current_database()"
    assert until(lambda: execute(postgres_url, left) == [(0,)], 3)


def test_what_another_reviews_waits_for_its_end(postgres_url: str, tmp_path: Path) -> None:
    busy, free = threading.Event(), threading.Event()
    first = Llm(lambda: (busy.set(), free.wait(20)))
    one = worker(postgres_url, tmp_path / "1", first)
    work(one, wait=0)
    assert busy.wait(10)
    second = Llm()
    two = worker(postgres_url, tmp_path / "2", second)
    assert work(two) is False
    (waiting,) = jobs(tmp_path / "2")
    assert (waiting["status"], waiting["attempts"]) == ("queued", 0)
    assert 0 < waiting["not_before"] - time.time() < 130
    assert "reviews this" in waiting["detail"]
    assert two.get_stats()["reviews"]["failed"] == 0
    free.set()
    assert one.wait(10)
    two.close()
    file = next((tmp_path / "2").rglob("jobs/*.json"))
    file.write_text(json.dumps({**waiting, "not_before": 0}))
    with worker(postgres_url, tmp_path / "2", second):
        assert until(lambda: jobs(tmp_path / "2")[0]["status"] == "done")
    assert second.asked == 0
    one.close()


def test_one_worker_reviews_one_episode(postgres_url: str) -> None:
    fleet(postgres_url, "m-0").take([])
    workers = [fleet(postgres_url, f"m-{n}") for n in range(10)]
    barrier = threading.Barrier(10)

    def take(worker: Fleet) -> frozenset[str]:
        barrier.wait()
        return worker.take(["e1", "e2", "e3"])[0]

    with ThreadPoolExecutor(10) as pool:
        taken = [episode for got in pool.map(take, workers) for episode in got]
    assert sorted(taken) == ["e1", "e2", "e3"]


def test_leases_end_and_failures_free_an_episode(postgres_url: str) -> None:
    one, two = fleet(postgres_url, "m-1"), fleet(postgres_url, "m-2")
    two.settle("", 0)  # connected, so that the lease is not over before it is asked for
    assert one.take(["e"], seconds=3) == ({"e"}, 0.0)
    taken, waits = two.take(["e"])
    assert (taken, 0 < waits <= 3) == (frozenset(), True)
    threading.Event().wait(3.2)
    assert two.take(["e"]) == ({"e"}, 0.0)
    one.finish(["e"])
    two.release(["e"])
    assert one.take(["e"]) == ({"e"}, 0.0)
    one.finish(["e"])
    assert two.take(["e"]) == one.take(["e"]) == (frozenset(), 0.0)


def test_a_job_has_its_own_lease_back_and_no_other_job_has(postgres_url: str) -> None:
    one, again = fleet(postgres_url, "m-1"), fleet(postgres_url, "m-1")
    assert one.take(["e"], "j-1")[0] == {"e"}
    assert again.take(["e"], "j-2")[0] == frozenset()
    assert again.take(["e"], "j-1")[0] == {"e"}
    again.finish(["e"], "j-1")
    assert one.take(["e"], "j-1") == (frozenset(), 0.0)


def test_an_episode_that_fails_every_worker_is_given_up(postgres_url: str) -> None:
    """First it rests, so that a provider's bad hour costs no learning."""
    asked = 0
    for number in range(40):
        one = fleet(postgres_url, f"m-{number}")
        taken, waits = one.take(["e"], "j")
        if taken:
            asked += 1
            one.release(["e"], "j", failed=True)
        elif waits:
            assert asked % 3 == 0
            execute(postgres_url, "UPDATE skill_learner.reviews SET lease_until = now()")
        else:
            break
    assert asked == MOST_FAILURES


def test_one_worker_whose_reviews_fail_takes_nothing_from_the_others(postgres_url: str) -> None:
    one = fleet(postgres_url, "m-1")
    for _ in range(20):
        assert one.take(["e"], "j")[0] == {"e"}
        one.release(["e"], "j", failed=True)
    assert fleet(postgres_url, "m-2").take(["e"], "j")[0] == {"e"}


def test_workers_do_not_all_pay_for_a_review_that_fails(postgres_url: str, tmp_path: Path) -> None:
    llms = [Llm(failing) for _ in range(6)]
    for number, llm in enumerate(llms):
        one = worker(postgres_url, tmp_path / str(number), llm)
        work(one)
        one.close(0)
    assert [llm.asked for llm in llms] == [1, 1, 1, 0, 0, 0]
    assert {job["status"] for job in jobs(tmp_path)} == {"queued"}


# -- the day's ceilings ---------------------------------------------------------------------------


def spend(url: str) -> list[tuple[Any, ...]]:
    return execute(url, "SELECT reviews, tokens FROM skill_learner.spend ORDER BY day")


def test_ceilings_count_for_the_whole_fleet(postgres_url: str) -> None:
    workers = [fleet(postgres_url, f"m-{n}") for n in range(8)]
    workers[0].settle("", 0)

    def ask(worker: Fleet) -> str:
        try:
            return worker.reserve(100, first=True, most_reviews=5, most_tokens=10_000)
        except CeilingReachedError:
            return ""

    with ThreadPoolExecutor(8) as pool:
        made = [name for name in pool.map(ask, workers) if name]
    assert len(made) == 5
    workers[0].settle(made[0], 50)
    workers[0].settle(made[0], 50)
    assert spend(postgres_url) == [(5, 450)]
    workers[0].settle(made[1], 0, made=False)
    workers[0].settle(made[1], 0, made=False)
    assert spend(postgres_url) == [(4, 350)]


class LossyProxy:
    """Between a client and a server; drops the answer to what holds `match`, once."""

    def __init__(self, server: str) -> None:
        self.match = b""
        self.dropped = 0
        self._server = server
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listening.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            threading.Thread(target=self._forward, args=(client,), daemon=True).start()

    def _forward(self, client: socket.socket) -> None:
        server = socket.socket(socket.AF_UNIX)
        server.connect(self._server)
        dropping = False
        with client, server:
            while True:
                for end in select.select([client, server], [], [])[0]:
                    data = end.recv(65_536)
                    if not data or (dropping and end is server):
                        self.dropped += dropping
                        return
                    if end is client and self.match and self.match in data:
                        dropping, self.match = True, b""
                    (server if end is client else client).sendall(data)


@pytest.fixture
def proxy(postgres_url: str) -> Iterator[LossyProxy]:
    folder = Path(postgres_url.rpartition("host=")[2].partition("&")[0])
    (there,) = (path for path in folder.glob(".s.PGSQL.*") if path.suffix != ".lock")
    proxy = LossyProxy(str(there))
    yield proxy
    proxy.close()


def test_a_lost_answer_counts_nothing_twice(postgres_url: str, proxy: LossyProxy) -> None:
    database = postgres_url.rpartition("/")[2].partition("?")[0]
    database = postgres_url.split("?", maxsplit=1)[0].rpartition("/")[2] or database
    one = fleet(f"postgresql://postgres@127.0.0.1:{proxy.port}/{database}", "m-1")
    given: dict[str, Any] = {"first": True, "most_reviews": 9, "most_tokens": 10_000}
    one.take(["warm"])
    for number, match in enumerate((b"INTO skill_learner.reservations", b"WITH mine AS"), 1):
        proxy.match = match
        made = one.reserve(100, **given)
        assert proxy.dropped == 2 * number - 1
        proxy.match = b"greatest(0"
        one.settle(made, 10)
        assert proxy.dropped == 2 * number
        assert spend(postgres_url) == [(number, 10 * number)]
    proxy.match = b"WITH free AS"
    assert one.take(["e"])[0] == {"e"}
    assert proxy.dropped == 5
    rows = "SELECT attempts FROM skill_learner.reviews WHERE episode = 'e'"
    assert execute(postgres_url, rows) == [(1,)]


def test_a_call_over_midnight_is_settled_on_its_own_day(postgres_url: str) -> None:
    one, two = fleet(postgres_url, "m-1"), fleet(postgres_url, "m-2")
    given: dict[str, Any] = {"first": True, "most_reviews": 9, "most_tokens": 15_000}
    late = one.reserve(10_000, **given)
    for table in ("spend", "reservations"):
        execute(postgres_url, f"UPDATE skill_learner.{table} SET day = day - 1")
    two.reserve(9_000, **given)
    one.settle(late, 2_000)
    assert spend(postgres_url) == [(1, 2_000), (1, 9_000)]


def test_a_worker_whose_own_day_is_used_takes_nothing_from_the_fleets(
    postgres_url: str, tmp_path: Path
) -> None:
    llm = Llm()
    one = worker(postgres_url, tmp_path, llm, daily_tokens=15_000)
    assert work(one, command="make a")
    execute(postgres_url, "UPDATE skill_learner.spend SET day = day - 1")
    for number in range(5):
        work(one, 5, f"make b{number}")
    one.close(0)
    assert 1 < llm.asked < 5
    reviews, tokens = spend(postgres_url)[1]
    assert reviews == llm.asked - 1
    assert tokens < 15_000 / 2


# -- a database that refuses ----------------------------------------------------------------------


def test_a_fleet_without_its_server_forbids_nothing(tmp_path: Path) -> None:
    alone = fleet(f"postgresql:///x?host={tmp_path}", "m-1")
    assert alone.take(["e"]) == ({"e"}, 0.0)
    made = alone.reserve(1, first=True, most_reviews=1, most_tokens=10)
    alone.finish(["e"])
    alone.settle(made, 1)


def without_rights(url: str) -> None:
    execute(url, "REVOKE ALL ON ALL TABLES IN SCHEMA skill_learner FROM PUBLIC")


def of_others(url: str) -> None:
    execute(url, "UPDATE skill_learner.libraries SET members = ARRAY['somebody']")


def read_only(url: str) -> None:
    name = execute(url, "SELECT current_database()")[0][0]
    execute(url, f'ALTER DATABASE "{name}" SET default_transaction_read_only = on')


def as_guest(url: str) -> str:
    """The address for a role without any rights but those of a member."""
    fleet(url, "m-0").take([])
    if not execute(url, "SELECT 1 FROM pg_roles WHERE rolname = 'guest'"):
        execute(url, "CREATE ROLE guest LOGIN")
    admit = "SELECT set_config('skill_learner.library', 'default', false),"
    execute(url, f"{admit} skill_learner.admit('default', 'guest')")
    return url.replace("postgres@", "guest@")


@pytest.mark.parametrize("refuse", [without_rights, of_others, read_only])
def test_a_database_that_refuses_stops_no_review(
    postgres_url: str, tmp_path: Path, refuse: Callable[[str], None]
) -> None:
    guest = as_guest(postgres_url)
    refuse(postgres_url)
    llm = Llm()
    with worker(guest, tmp_path, llm) as one:
        assert work(one)
    assert llm.asked == 1
    assert [job["status"] for job in jobs(tmp_path)] == ["done"]
    (last,) = last_syncs(next(tmp_path.rglob("state.sqlite")), ["fleet"])
    assert "without the fleet" in last.error


def test_a_refusal_after_the_review_does_not_repeat_it(postgres_url: str, tmp_path: Path) -> None:
    guest = as_guest(postgres_url)
    llm = Llm(lambda: without_rights(postgres_url))
    with worker(guest, tmp_path, llm) as one:
        assert work(one)
    assert llm.asked == 1
    assert [job["status"] for job in jobs(tmp_path)] == ["done"]


def test_without_psycopg_a_worker_goes_on_alone(
    postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    llm = Llm()
    with worker(postgres_url, tmp_path, llm) as one:
        assert work(one)
    assert llm.asked == 1


def test_a_worker_that_only_pulls_writes_nothing(
    make_home: MakeHome, postgres_url: str, tmp_path: Path
) -> None:
    one = make_home("one")
    one.add("deploy")
    one.sync()
    remote = {"direction": "pull", "every": 900}
    vectors = Vectors(2)
    llm = Llm()
    with worker(
        postgres_url, tmp_path / "w", llm, remote=remote, embedding_provider=vectors
    ) as engine:
        assert [skill.name for skill in engine.get_relevant_skills("x")] == ["deploy"]
        assert work(engine)
    assert llm.asked == 1
    for table in ("vectors", "reviews", "spend", "reservations"):
        assert execute(postgres_url, f"SELECT * FROM skill_learner.{table}") == []


def transcript(folder: Path) -> Path:
    """As Claude Code writes it: a command that fails three times, another one, then it passes."""
    commands = [*[("make deploy", True)] * 3, ("kill $(lsof -t -i:8080)", False)]
    said: list[tuple[str, Any]] = [("user", "Deploy the shop.")]
    for number, (command, failed) in enumerate([*commands, ("make deploy", False)]):
        given = {"command": command}
        text = "Exit code 2\nerror: port 8080 is in use" if failed else "done"
        used = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": given}
        told = {"type": "tool_result", "tool_use_id": f"t{number}", "content": text}
        told |= {"is_error": True} if failed else {}
        said += [("assistant", [used]), ("user", [told])]
    common = {"cwd": str(folder), "sessionId": "s1", "version": "2.1.332", "isSidechain": False}
    lines = [
        json.dumps(
            {
                **common,
                "type": role,
                "message": {"role": role, "content": content},
                "uuid": f"s1-{number}",
                "timestamp": "2026-11-30T10:00:00.000Z",
            }
        )
        for number, (role, content) in enumerate(said)
    ]
    file = folder / "s1.jsonl"
    file.write_text("\n".join(lines))
    return file


def test_a_dry_run_takes_nothing_from_the_fleet(
    postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SKILL_LEARNER_REMOTES", json.dumps({"fleet": {"url": postgres_url}}))
    fleet(postgres_url, "m-0").take([])
    file = transcript(tmp_path)
    shown = CliRunner().invoke(cli, ["learn", "--dry-run", str(file)])
    assert "nothing was written" in shown.output
    assert execute(postgres_url, "SELECT * FROM skill_learner.reviews") == []
    shown = CliRunner().invoke(cli, ["learn", str(file)])
    assert "1 episode;" in shown.output
    assert execute(postgres_url, "SELECT done FROM skill_learner.reviews") == [(True,)]


# -- embeddings -----------------------------------------------------------------------------------


class Vectors:
    model_name = "one name"

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self.asked: list[str] = []

    def embed(self, texts: list[str]) -> list[list[float]]:
        self.asked += texts
        end = [0.0] * (self.dimension - 2)
        return [[*((1.0, 0.1) if "deploy" in text else (0.1, 1.0)), *end] for text in texts]


def test_vectors_of_another_dimension_are_others(
    make_home: MakeHome, postgres_url: str, tmp_path: Path
) -> None:
    one = make_home("one")
    for name in ("deploy", "release"):
        one.add(name)
    one.sync()
    asked = []
    for number, dimension in enumerate((4, 2, 2, 4)):
        vectors = Vectors(dimension)
        with worker(
            postgres_url,
            tmp_path / str(number),
            None,
            remote={"every": 900},
            embedding_provider=vectors,
        ) as engine:
            found = engine.get_relevant_skills("deploy it", top_k=1)
            assert [skill.name for skill in found] == ["deploy"]
            assert engine.get_stats()["embedding"]["last_error"] == ""
        asked.append(len(vectors.asked))
    assert asked == [3, 3, 2, 2]


def test_a_vector_of_a_wrong_dimension_is_replaced(
    make_home: MakeHome, postgres_url: str, tmp_path: Path
) -> None:
    one = make_home("one")
    for name in ("deploy", "release"):
        one.add(name)
    one.sync()
    for number in range(2):
        with worker(
            postgres_url,
            tmp_path / str(number),
            None,
            remote={"every": 900},
            embedding_provider=Vectors(2),
        ) as engine:
            found = engine.get_relevant_skills("deploy it", top_k=1)
            assert [skill.name for skill in found] == ["deploy"]
        if number == 0:
            execute(postgres_url, "UPDATE skill_learner.vectors SET vector = '[1, 2, 3]'")
    dims = "SELECT DISTINCT vector_dims(vector) FROM skill_learner.vectors"
    assert execute(postgres_url, dims) == [(2,)]
