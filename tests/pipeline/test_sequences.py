from __future__ import annotations

from skill_learner.learning.redaction import Redactor
from skill_learner.models import Session, Step, ToolCall
from skill_learner.paths import StatePaths
from skill_learner.pipeline.sequences import earlier_sequences, move_sequences, remember_sequence

COMMANDS = ("make clean", "make build", "make deploy")


def session(name: str, parent: str = "", commands: tuple[str, ...] = COMMANDS) -> Session:
    steps = tuple(
        Step(n, "tool", "", ToolCall(f"c{n}", "Bash", {"command": command}, "fine", "ok"))
        for n, command in enumerate(commands, 1)
    )
    return Session(name, "claude-code", "/p", steps, parent=parent)


def test_other_sessions_are_remembered_and_relatives_left_out(paths: StatePaths) -> None:
    for one in (session("first"), session("fork", parent="first"), session("second")):
        remember_sequence(paths, "p-1", one, Redactor())

    def known(one: Session) -> int:
        return len(earlier_sequences(paths, "p-1", one))

    assert known(session("third")) == 3
    assert known(session("first")) == 1  # itself and its fork are no repetition
    assert known(session("another-fork", parent="first")) == 1
    assert earlier_sequences(paths, "p-2", session("third")) == []


def test_the_same_commands_in_two_sessions_are_an_episode(paths: StatePaths) -> None:
    from skill_learner.learning.episodes import find_episodes

    remember_sequence(paths, "p-1", session("first"), Redactor())
    second = session("second")
    earlier = earlier_sequences(paths, "p-1", second)
    (episode,) = find_episodes(second, earlier_sequences=earlier)
    assert episode.kind == "repeated_commands"


def test_memory_is_bounded_and_survives_damage(paths: StatePaths) -> None:
    for number in range(60):
        remember_sequence(paths, "p-1", session(f"s{number}"), Redactor())
    assert len(earlier_sequences(paths, "p-1", session("new"))) == 50
    (paths.root / "sequences" / "p-1.json").write_text('{"s1": ')
    assert earlier_sequences(paths, "p-1", session("new")) == []


def test_a_project_that_was_moved_keeps_its_memory(paths: StatePaths) -> None:
    remember_sequence(paths, "old-1", session("first"), Redactor())
    remember_sequence(paths, "new-2", session("second"), Redactor())  # before it was said
    assert move_sequences(paths, "old-1", "new-2")
    assert len(earlier_sequences(paths, "new-2", session("third"))) == 2
    assert earlier_sequences(paths, "old-1", session("third")) == []
    assert not move_sequences(paths, "old-1", "new-2")
    assert len(earlier_sequences(paths, "new-2", session("third"))) == 2


def test_secrets_are_not_remembered(paths: StatePaths) -> None:
    token = "ghp_" + "Zx8Yw7Vu6Ts5Rq4Po3Nm2Lk1Ji0Hg9Fe8Dc7"[:36]
    commands = (f"deploy --token {token}", "make build", "make deploy")
    remember_sequence(paths, "p-1", session("s1", commands=commands), Redactor())
    assert token not in (paths.root / "sequences" / "p-1.json").read_text()
