"""Uses of skills, counted from journals."""

from __future__ import annotations

import multiprocessing

import pytest

from skill_learner.errors import LibraryError
from skill_learner.paths import StatePaths
from skill_learner.usage import UsageStore


@pytest.fixture
def store(state):
    return UsageStore(state.usage_db)


def skill_call(journal, call_id, name, **response):
    return journal.tool(
        call_id, "Skill", {"success": True, "commandName": name, **response}, skill=name
    )


def test_the_three_ways_to_use_a_skill(journal, state, store):
    skill_call(journal, "t1", "deploy")
    journal.event("UserPromptExpansion", command_name="deploy", command_args="now")
    journal.tool("t2", "Read", {"file": {}}, file_path="/h/.claude/skills/deploy/SKILL.md")
    journal.bash("t3", "cat ~/.claude/skills/deploy/SKILL.md", "# Deploy")
    skill_call(journal, "t4", "absent", success=False)
    journal.tool("t5", "Read", {"file": {}}, file_path="/h/.claude/skills/other/SKILL.md")
    journal.bash_fails("t6", "cat skills/deploy/SKILL.md", "Exit code 1")
    assert store.harvest_all(state, {"deploy"}) == 4
    use = store.counts()["deploy"]
    assert (use.count, use.sessions, use.last_used) == (4, 1, journal.at - 3)


def test_counting_twice_changes_nothing(journal, state, store):
    journal.event("UserPromptExpansion", command_name="deploy")
    skill_call(journal, "t1", "deploy")
    assert store.harvest_all(state) == 2
    told = journal.path.read_bytes()
    journal.path.write_bytes(told[: len(told) // 2])  # shorter than before: it is read anew
    assert store.harvest_all(state) == 0
    journal.path.write_bytes(told)
    assert store.harvest_all(state) == 0
    assert store.counts()["deploy"].count == 2


def test_harvesting_all_journals_reads_on_where_it_ended(journal, state, store):
    skill_call(journal, "t1", "deploy")
    assert store.harvest_all(state) == 1
    assert store.harvest_all(state) == 0
    skill_call(journal, "t2", "deploy")
    assert store.harvest_all(state) == 1
    journal.path.unlink()
    skill_call(journal, "t3", "deploy")  # pruned, then resumed: the journal is shorter now
    assert store.harvest_all(state) == 1
    assert store.counts()["deploy"].count == 3


def test_an_empty_store(store):
    assert store.counts() == {}


def test_a_damaged_file_is_put_aside_and_counting_begins_anew(state):
    state.root.mkdir()
    damaged = b"this is not a database, and long enough to say so" * 20
    state.usage_db.write_bytes(damaged)
    assert UsageStore(state.usage_db).counts() == {}
    aside = state.usage_db.with_name("usage.sqlite.damaged")
    assert aside.read_bytes() == damaged
    assert UsageStore(state.usage_db).counts() == {}
    assert state.usage_db.read_bytes().startswith(b"SQLite format 3")


def test_a_file_that_cannot_be_opened_is_named(state):
    state.usage_db.mkdir(parents=True)
    with pytest.raises(LibraryError, match=r"usage\.sqlite"):
        UsageStore(state.usage_db).counts()


def _count(root):
    state = StatePaths(root)
    UsageStore(state.usage_db).harvest_all(state)


@pytest.mark.process
def test_eight_processes_at_once_lose_nothing(state, journal):
    journal_type = type(journal)
    for worker in range(8):
        for number in range(10):
            name = f"{worker}-{number}"
            one = journal_type(state.journal_dir / f"{name}.jsonl", name)
            for call in range(5):
                skill_call(one, f"t{call}", "deploy")
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_count, args=(state.root,)) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [0] * 8
    use = UsageStore(state.usage_db).counts()["deploy"]
    assert (use.count, use.sessions) == (400, 80)
