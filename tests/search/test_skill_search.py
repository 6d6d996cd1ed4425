"""Search over a real library folder, through both backends."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skill_learner.errors import IndexUnusableError
from skill_learner.models import CreateSkill, Skill, SkillState
from skill_learner.search import SkillSearch
from skill_learner.skills.library import SkillLibrary
from skill_learner.storage import BACKENDS, open_index
from skill_learner.storage.filesystem import FilesystemIndex
from skill_learner.storage.sqlite import SqliteIndex

SKILLS = {
    "go-logger-build": ("Use when go build fails with undefined: Logger", "Pass -tags logging.\n"),
    "docker-cache": ("Use when docker build ignores the layer cache", "Copy the lockfile first.\n"),
    "pg-migration-lock": ("Use when a Postgres migration hangs", "Set lock_timeout.\n"),
    "zh-deploy": ("部署失败时使用：修复构建缓存", "清理缓存。\n"),
    "react-hook": ("Use when useEffect runs twice in development", "StrictMode mounts twice.\n"),
}


@pytest.fixture
def library(tmp_path: Path) -> SkillLibrary:
    return SkillLibrary(tmp_path / "skills")


Write = Callable[..., Skill]


@pytest.fixture
def write(library: SkillLibrary) -> Write:
    def create(
        name: str, description: str, body: str, *, state: SkillState = "active", scope: str = "user"
    ) -> Skill:
        return library.create(
            CreateSkill(name, description, body, ()),
            state=state,
            scope=scope,
            project_slug="p",
            origin="offline",
            session="s",
        )

    return create


@pytest.fixture
def filled(library: SkillLibrary, write: Write) -> SkillLibrary:
    for name, (description, body) in SKILLS.items():
        write(name, description, body)
    return library


@pytest.fixture(params=sorted(BACKENDS))
def search(
    request: pytest.FixtureRequest, library: SkillLibrary, tmp_path: Path
) -> Iterator[SkillSearch]:
    index = open_index(request.param, tmp_path / "index.sqlite")
    yield SkillSearch(library, index)
    index.close()


def names(search: SkillSearch, query: str, **options: object) -> list[str]:
    return [hit.skill.name for hit in search.search(query, **options)]  # type: ignore[arg-type]


def test_an_empty_library_finds_nothing(search: SkillSearch) -> None:
    assert search.search("anything") == []
    assert search.nearest("anything") == []


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("my go build says undefined Logger", "go-logger-build"),
        ("why is the docker layer cache not used?", "docker-cache"),
        ("migrations hanging on postgres", "pg-migration-lock"),
        ("lock_timeout", "pg-migration-lock"),
        ("修复部署", "zh-deploy"),
        ("effect called twice", "react-hook"),
        ("StrictMode", "react-hook"),
        ("strict mode", "react-hook"),
    ],
)
def test_the_skill_that_serves_comes_first(
    filled: SkillLibrary, search: SkillSearch, query: str, first: str
) -> None:
    assert names(search, query)[0] == first


@pytest.mark.parametrize("query", ["", "   ", "zzzz qqqq", "???", '"', "how do I", "\x00"])
def test_queries_without_a_known_word_find_nothing(
    filled: SkillLibrary, search: SkillSearch, query: str
) -> None:
    assert search.search(query) == []


@given(
    st.text(max_size=200) | st.sampled_from(["NEAR(", "a AND", "col:x", "a*", "-", "^", "\ud800"])
)
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40
)
def test_no_query_raises(filled: SkillLibrary, search: SkillSearch, query: str) -> None:
    search.search("docker " + query)


def test_hits_say_what_matched(filled: SkillLibrary, search: SkillSearch) -> None:
    hit = search.search("docker caching of lockfile")[0]
    assert hit.matched["name"] == ("docker", "caching") or set(hit.matched["name"]) == {
        "docker",
        "caching",
    }
    assert "lockfile" in hit.matched["body"]
    assert 0 < hit.score <= 1
    assert "清理" not in str(search.search("修复")[0].matched)
    assert "修复" in search.search("修复")[0].matched["description"]


def test_top_k_scope_and_state(library: SkillLibrary, search: SkillSearch, write: Write) -> None:
    write("user-wide", "Use when shared thing", "x\n")
    write("of-shop", "Use when shared thing", "x\n", scope="shop-1")
    write("of-blog", "Use when shared thing", "x\n", scope="blog-2")
    write("waiting", "Use when shared thing", "x\n", state="candidate")
    library.archive("of-blog", why="", actor="user")
    assert set(names(search, "shared thing")) == {"user-wide", "of-shop"}
    assert names(search, "shared thing", scope="blog-2") == ["user-wide"]
    assert set(names(search, "shared", scope="shop-1")) == {"user-wide", "of-shop"}
    assert len(names(search, "shared", top_k=1)) == 1
    assert names(search, "shared", top_k=0) == []
    assert names(search, "shared", states=("candidate",)) == ["waiting"]
    assert names(search, "shared", states=("archived",)) == ["of-blog"]
    assert {skill.name for skill in search.nearest("a shared thing")} == {
        "user-wide",
        "of-shop",
        "waiting",
    }


def test_changes_are_seen_by_the_next_search(filled: SkillLibrary, search: SkillSearch) -> None:
    assert names(search, "kubernetes") == []
    path = Path(filled.get("docker-cache").path)
    size = path.stat().st_size
    text = path.read_text().replace("lockfile", "kubernet")
    path.write_text(text)
    assert path.stat().st_size == size
    assert names(search, "kubernet") == ["docker-cache"]
    folder = filled.skills_dir / "by-hand"
    folder.mkdir()
    (folder / "SKILL.md").write_text("---\nname: by-hand\ndescription: Use kubernet.\n---\n")
    assert set(names(search, "kubernet")) == {"docker-cache", "by-hand"}
    (folder / "SKILL.md").unlink()
    assert names(search, "kubernet") == ["docker-cache"]
    filled.set_state("docker-cache", "candidate", why="", actor="user")
    assert names(search, "kubernet") == []
    filled.set_state("docker-cache", "active", why="", actor="user")
    assert names(search, "kubernet") == ["docker-cache"]


def test_only_what_changed_is_read_again(filled: SkillLibrary, search: SkillSearch) -> None:
    old = 1_600_000_000
    for path in filled.skills_dir.glob("*/SKILL.md"):
        os.utime(path, (old, old))
    assert search.sync() == len(SKILLS)
    assert search.sync() == 0
    os.utime(filled.skills_dir / "docker-cache" / "SKILL.md", (old + 5, old + 5))
    assert search.sync() == 1
    assert search.rebuild() == len(SKILLS)


def test_a_file_that_becomes_unusable_drops_out(filled: SkillLibrary, search: SkillSearch) -> None:
    assert names(search, "docker") == ["docker-cache"]
    Path(filled.get("docker-cache").path).write_text("---\nname: docker-cache\n")
    assert names(search, "docker") == []


def test_an_index_lost_between_two_searches_is_made_again(
    filled: SkillLibrary, tmp_path: Path
) -> None:
    search = SkillSearch(filled, SqliteIndex(tmp_path / "index.sqlite"))
    assert names(search, "docker") == ["docker-cache"]
    for path in tmp_path.glob("index.sqlite*"):
        path.write_bytes(b"garbage" * 1000)
    fresh = SkillSearch(filled, SqliteIndex(tmp_path / "index.sqlite"))
    assert names(fresh, "docker") == ["docker-cache"]


def test_without_a_place_for_the_index_search_goes_on(
    filled: SkillLibrary, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "folder.sqlite").mkdir()
    broken = SqliteIndex(tmp_path / "folder.sqlite")
    with pytest.raises(IndexUnusableError):
        SkillSearch(filled, broken).search("docker")
    search = SkillSearch(filled, broken, fallback=FilesystemIndex)
    assert names(search, "docker") == ["docker-cache"]
    assert "searching without it" in caplog.text


def test_hidden_text_is_not_searchable_by_its_disguise(
    library: SkillLibrary, search: SkillSearch, write: Write
) -> None:
    write("x", "Use when do\u200bcker fails", "b\n")
    assert names(search, "docker") == ["x"]


def let_age(library: SkillLibrary) -> None:
    """Make the files old enough for their times to tell."""
    for path in library.skills_dir.rglob("SKILL.md"):
        os.utime(path, (1_700_000_000, 1_700_000_000))


def test_a_broken_file_is_read_once(filled: SkillLibrary, search: SkillSearch) -> None:
    broken = filled.skills_dir / "broken" / "SKILL.md"
    broken.parent.mkdir()
    broken.write_text("---\nname: broken\n")
    let_age(filled)
    assert search.sync() == len(SKILLS) + 1
    assert search.sync() == 0
    broken.write_text("---\nname: broken\ndescription: Use when flux fails\n---\nb\n")
    assert names(search, "flux") == ["broken"]


def test_edits_are_seen_after_a_look_that_found_nothing(
    filled: SkillLibrary, search: SkillSearch, write: Write
) -> None:
    for folder, name in (("skills", "docker-cache"), ("archive", "react-hook")):
        if folder == "archive":
            filled.archive(name, why="", actor="user")
        let_age(filled)
        search.sync()
        assert search.sync() == 0
        file = next(filled.skills_dir.rglob(f"{name}/SKILL.md"))
        before = file.stat()
        file.write_bytes(file.read_bytes().replace(b"Use when", b"Use WHEN"))
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))  # only ctime tells
        assert search.sync() == 1
    filled.encounters.add("docker-cache", ["how to keep the layers of an image"])
    assert search.sync() == 1
    assert names(search, "layers image") == ["docker-cache"]


class CountingIndex(FilesystemIndex):
    finished = 0

    def finish(self) -> None:
        self.finished += 1


def test_an_index_is_put_in_order_after_many_skills_only(library: SkillLibrary) -> None:
    for number in range(1_000):
        file = library.skills_dir / f"s{number}" / "SKILL.md"
        file.parent.mkdir(parents=True)
        file.write_text(f"---\nname: s{number}\ndescription: d\n---\nb\n")
    let_age(library)
    index = CountingIndex()
    search = SkillSearch(library, index)
    assert search.sync() == 1_000
    assert index.finished == 1
    file.write_text("---\nname: s\ndescription: another\n---\nb\n")
    search.sync()
    assert index.finished == 1
