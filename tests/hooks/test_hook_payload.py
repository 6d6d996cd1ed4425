"""What the hook does to a payload's bytes, held against the real JSON parser."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skill_learner.hook_runtime.json_bytes import ascii_string, quoted, quoted_path, unquoted
from skill_learner.hook_runtime.payload import (
    SMALLEST_CAP,
    as_json_value,
    is_secret_name,
    read_fields,
)

CAP = 1 << 24
TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=40)


def value(payload: bytes, environ: dict[bytes, bytes] | None = None, cap: int = CAP) -> Any:
    line = as_json_value(payload, environ or {}, cap)
    assert b"\n" not in line
    return json.loads(line, strict=False)


@given(st.dictionaries(st.sampled_from("abcdefgh"), TEXT, max_size=8), st.booleans())
@settings(max_examples=60, deadline=None)
def test_fields_are_what_a_parser_reads(fields: dict[str, str], ascii_only: bool) -> None:
    payload = json.dumps(fields, ensure_ascii=ascii_only).encode()
    expected = {key.encode(): text.encode() for key, text in fields.items()}
    assert read_fields(payload) == expected


def test_fields_behind_nested_values_are_found() -> None:
    nested = {"level": "a}b", "more": [{"session_id": "inner"}, "]"]}
    payload = json.dumps({"effort": nested, "n": 3, "session_id": "outer"}, indent=2).encode()
    assert read_fields(payload)[b"session_id"] == b"outer"


def test_text_inside_a_value_is_no_field() -> None:
    payload = json.dumps({"prompt": '","session_id":"evil"', "session_id": "good"}).encode()
    assert read_fields(payload)[b"session_id"] == b"good"


@pytest.mark.parametrize(
    "payload",
    [b"", b"{", b"[]", b'{"a', b'{"a":', b'{"a":"b', b'x {"a":"b"}', b'{"a":{', b"\xff\xfe{"],
)
def test_broken_payloads_give_no_nonsense(payload: bytes) -> None:
    assert set(read_fields(payload).values()) <= {b"b"}


@given(TEXT)
@settings(max_examples=80, deadline=None)
def test_quoting_round_trips(text: str) -> None:
    assert json.loads(quoted(text.encode())) == text
    assert json.loads(ascii_string(text)) == text
    assert ascii_string(text).isascii()
    for ascii_only in (True, False):
        raw = json.dumps(text, ensure_ascii=ascii_only)[1:-1].encode()
        assert unquoted(raw) == text.encode()


def test_path_bytes_survive_json() -> None:
    path = b"/a/\xff\xe9/b"
    assert json.loads(quoted_path(path)).encode("utf-8", "surrogateescape") == path
    assert unquoted(quoted_path(path)[1:-1]) == path


def test_faulty_escapes_stay() -> None:
    assert unquoted(rb"a\qb\u12") == rb"a\qb\u12"


def test_raw_line_breaks_fold() -> None:
    assert value(b'\xef\xbb\xbf{\r\n "a": 1,\n "b": "x\\ny"}\r\n') == {"a": 1, "b": "x\ny"}


@pytest.mark.parametrize(
    "payload", [b"", b" \n", b"[1]", b'"x"', b"null", b"{", b'\xff\xfe{\x00"', b"text\nwith \x01"]
)
def test_what_is_no_object_is_damaged(payload: bytes) -> None:
    text = payload.strip().decode("utf-8", "replace")
    assert value(payload) == {"damaged": text}


def test_cap_keeps_head_and_tail() -> None:
    payload = json.dumps({"head": "ä" * 5000, "x": '"\\\t' * 3000, "tail": "ö" * 5000}).encode()
    kept = value(payload, cap=8192)
    assert kept["cut"] == len(payload)
    assert payload.decode().startswith(kept["head"])
    assert payload.decode().endswith(kept["tail"])
    assert len(kept["head"]) > 1000 < len(kept["tail"])
    assert len(as_json_value(payload, {}, 8192)) <= 8192 + 100


@pytest.mark.parametrize("shift", range(4))
def test_cut_never_splits_a_character(shift: int) -> None:
    payload = ('{"a":"' + "x" * shift + "\U0001f600" * 4000 + '"}').encode()
    kept = value(payload, cap=SMALLEST_CAP)
    assert "�" not in kept["head"] + kept["tail"]


@pytest.mark.parametrize(
    "name",
    ["ANTHROPIC_API_KEY", "GH_TOKEN", "DB_PASSWORD", "MYSQL_PWD", "npm_config__auth", "X_PASS",
     "AWS_SECRET_ACCESS_KEY", "GITHUB_PAT", "SSH_PASSPHRASE", "GOOGLE_CREDENTIALS"],
)  # fmt: skip
def test_secret_names(name: str) -> None:
    assert is_secret_name(name.upper().encode())


@pytest.mark.parametrize(
    "name",
    ["PATH", "PWD", "OLDPWD", "SSH_AUTH_SOCK", "XAUTHORITY", "KEYBOARD", "MONKEY", "HOME",
     "MAX_THINKING_TOKENS", "SSH_KEY_PATH", "GOOGLE_APPLICATION_CREDENTIALS_FILE",
     "TOKENIZERS_PARALLELISM", "AUTHOR", "COMPASS"],
)  # fmt: skip
def test_harmless_names(name: str) -> None:
    assert not is_secret_name(name.encode())


@pytest.mark.parametrize(
    "secret",
    ["s3cr3t-value", 'quo"ted\\value', "line\nbreak-key", "pässwörd1", "12345678", "1.5e+1234"],
)
@pytest.mark.parametrize("ascii_only", [True, False])
def test_secret_values_are_blanked_and_json_stays(secret: str, ascii_only: bool) -> None:
    inner = json.dumps({"output": secret}, ensure_ascii=ascii_only)
    payload = json.dumps(
        {"a": f"x {secret} y", "nested": inner, "n": 12345678}, ensure_ascii=ascii_only
    ).encode()
    kept = value(payload, {b"SOME_API_KEY": secret.encode()})
    assert secret not in kept["a"]
    assert secret not in json.loads(kept["nested"])["output"]
    assert kept["a"].startswith("x ")
    assert kept["a"].endswith(" y")


def test_longer_secret_goes_whole() -> None:
    environ = {b"A_TOKEN": b"abcdefgh", b"B_TOKEN": b"abcdefgh-ijklmnop"}
    assert value(b'{"a":"abcdefgh-ijklmnop"}', environ) == {"a": "[redacted]"}


def test_short_values_and_paths_stay() -> None:
    environ = {b"A_KEY": b"short", b"SSH_AUTH_SOCK": b"/tmp/agent.1"}
    assert value(b'{"a":"short /tmp/agent.1"}', environ) == {"a": "short /tmp/agent.1"}


def test_damaged_text_is_blanked_too() -> None:
    assert value(b'tok"en-value oops', {b"T_KEY": b'tok"en-value'}) == {
        "damaged": "[redacted] oops"
    }


def test_email_is_blanked_where_it_is_a_field() -> None:
    inner = json.dumps({"user_email": "dev@example.invalid", "b": 1})
    payload = json.dumps(
        {"user_email": "dev@example.invalid", "t": inner, "note": "the user_email: see docs"}
    ).encode()
    kept = value(payload)
    assert kept["user_email"] == ""
    assert json.loads(kept["t"]) == {"user_email": "", "b": 1}
    assert kept["note"] == "the user_email: see docs"
