"""JSON by an encoder that is set up once: the same text as by one that is not."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skill_learner.json_text import made_once

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
ENCODERS = {
    "plain": json.JSONEncoder(check_circular=False),
    "compact": json.JSONEncoder(check_circular=False, separators=(",", ":")),
    "letters": json.JSONEncoder(check_circular=False, ensure_ascii=False),
    "watchful": json.JSONEncoder(),
    "in order": json.JSONEncoder(check_circular=False, sort_keys=True),
}


@pytest.mark.parametrize("name", ENCODERS)
@given(value=VALUES)
def test_the_text_is_the_same(name: str, value: Any) -> None:
    assert made_once(ENCODERS[name])(value) == ENCODERS[name].encode(value)


def test_what_json_has_no_form_for_is_refused_each_time() -> None:
    encode = made_once(json.JSONEncoder(check_circular=False))
    for _ in range(2):
        with pytest.raises(TypeError, match="set"):
            encode({"a": set()})
    assert encode({"a": 1}) == '{"a": 1}'


def none_there(*_: object) -> object:
    raise TypeError("other arguments")


@pytest.mark.parametrize("way", [None, none_there])
def test_a_python_with_another_way_inside_is_asked_in_the_documented_one(
    monkeypatch: pytest.MonkeyPatch, way: object
) -> None:
    monkeypatch.setattr(json.encoder, "c_make_encoder", way)
    encoder = json.JSONEncoder(check_circular=False)
    assert made_once(encoder) == encoder.encode
