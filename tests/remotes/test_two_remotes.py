"""Machines between two remotes: the same skill reaches them by two ways."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from remote_homes import Home, empty_repository, home_maker, killed_at_its_push, words

pytestmark = pytest.mark.process

Bridge = Callable[[str], tuple[Home, Home]]


@pytest.fixture
def bridge(tmp_path: Path) -> Bridge:
    """Makes a machine that shares its library with two remotes: it as each of them sees it."""
    urls = [str(empty_repository(tmp_path / f"{name}.git")) for name in ("near", "far")]

    def make(name: str) -> tuple[Home, Home]:
        home = home_maker(urls[0], tmp_path)(name)
        near, far = (
            replace(home, settings=replace(home.settings, name=remote, url=url))
            for remote, url in zip(("near", "far"), urls, strict=True)
        )
        return near, far

    return make


def test_copies_that_both_went_on_from_a_common_text_are_merged(bridge: Bridge) -> None:
    """Neither had the other's text, but both had what they went on from."""
    (near, far), (near_two, far_two) = bridge("one"), bridge("two")
    near.add("deploy")
    near.sync()
    near_two.sync()
    near.patch("deploy", "First step.", "First by one.")
    near_two.patch("deploy", "Third step.", "Third by two.")
    far.sync()
    assert words(far_two.sync()) == {"deploy": "merged"}
    assert far_two.names() == ["deploy"]
    body = far_two.library.get("deploy").body
    assert "First by one.\n\nSecond step.\n\nThird by two." in body


def test_what_is_sent_first_tells_of_its_earlier_texts(bridge: Bridge) -> None:
    """So a remote that has one of them is not taken for another skill's."""
    (near, far), (near_two, far_two) = bridge("one"), bridge("two")
    near.add("deploy")
    killed_at_its_push(far, landed=True)
    near.patch("deploy", "First step.", "First by one.")
    near.sync()
    near_two.sync()
    assert words(far_two.sync()) == {"deploy": "the same"}
    assert far_two.names() == ["deploy"]
    assert "First by one." in far_two.library.get("deploy").body


def test_two_skills_of_one_name_are_named_anew_once_only(bridge: Bridge) -> None:
    homes = [home for name in ("one", "two") for home in bridge(name)]
    near, _, _, far_two = homes
    near.add("deploy")
    far_two.add("deploy", "# Other\n\nAnother.\n", description="Use when paint dries.")
    near.sync()
    far_two.sync()
    for _ in range(6):
        told = [one for home in homes for one in home.sync().outcomes]
    assert told == []
    for home in (near, far_two):
        assert len(home.names()) <= 4
