"""The same commands in the same order in several sessions."""

from __future__ import annotations

from session_builder import SessionBuilder

from skill_learner.learning.episodes import find_episodes
from skill_learner.learning.repeats import command_sequence


def _release(project: str, version: str) -> SessionBuilder:
    return (
        SessionBuilder(project, project)
        .human("release")
        .bash(f"cd {project} && npm version {version}", version)
        .bash("git status", "clean")
        .bash("npm run build", "built")
        .bash(f"npm publish --tag v{version}", "ok")
    )


def test_a_run_of_three_in_another_session_is_an_episode() -> None:
    earlier = command_sequence(_release("/a/shop", "1.2.3").session())
    assert earlier == ("npm version N.N.N", "npm run build", "npm publish --tag vN.N.N")
    later = _release("/b/shop", "4.5.6").session()
    (episode,) = find_episodes(later, earlier_sequences=[("make",), earlier])
    assert episode.kind == "repeated_commands"
    assert episode.steps == (2, 4, 5)
    assert find_episodes(later, earlier_sequences=[earlier[:2]]) == ()


def test_one_command_over_and_over_is_no_procedure() -> None:
    session = SessionBuilder().bash("pytest", "1 passed").edit("a").bash("pytest", "1 passed")
    sequence = ("pytest", "pytest", "pytest")
    assert find_episodes(session.bash("pytest", "ok").session(), earlier_sequences=[sequence]) == ()
