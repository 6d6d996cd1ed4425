"""Blanks what must not reach the disk: values of secret-named environment variables, e-mails.

Everything else is redacted by the reader. This is a byte search, so that it costs next to nothing.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

BLANK = b"[redacted]"
_SHORTEST = 8

_ANYWHERE = (b"SECRET", b"PASSW", b"PASSPHRASE", b"CREDENTIAL", b"APIKEY", b"TOKEN", b"PRIVATE")
_AS_A_WORD = frozenset((b"KEY", b"AUTH", b"PAT", b"PASS", b"AUTHORIZATION", b"COOKIE"))
_NOT_SECRET_ENDINGS = frozenset(
    (b"SOCK", b"FILE", b"PATH", b"DIR", b"HOME", b"TOKENS", b"PARALLELISM", b"METHOD", b"TYPE")
)


def blank_secrets(payload: bytes, environ: "Mapping[bytes, bytes]") -> bytes:
    """The payload without values of secret-named variables (plain or JSON-escaped) and without
    the value of any `user_email` field. A JSON document stays one."""
    for value in secret_values(environ):
        for form in _forms(value):
            if form in payload:
                payload = payload.replace(form, BLANK)
    if b"user_email" in payload:
        payload = _blank_email(payload)
    return payload


def secret_values(environ: "Mapping[bytes, bytes]") -> "Iterator[bytes]":
    """Values worth blanking: at least eight bytes, of variables named like a secret."""
    for name, value in environ.items():
        if len(value) >= _SHORTEST and is_secret_name(name.upper()):
            stripped = value.strip()
            if len(stripped) >= _SHORTEST:
                yield stripped


def is_secret_name(name: bytes) -> bool:
    """By the words of an upper-case name: API_KEY yes, KEYBOARD no, SSH_AUTH_SOCK no (a path)."""
    for part in _ANYWHERE:
        if part in name:
            break
    else:
        if _AS_A_WORD.isdisjoint(name.split(b"_")):
            return name.endswith(b"_PWD")
    return name.rpartition(b"_")[2] not in _NOT_SECRET_ENDINGS


def _forms(value: bytes) -> "Iterator[bytes]":
    """The value as it may stand in a payload: raw, inside a JSON string, in JSON inside JSON."""
    yield value
    if b'"' in value or b"\\" in value or not value.isascii() or min(value) < 0x20:
        from skill_learner.hook_runtime.json_bytes import ascii_string, quoted

        text = value.decode("utf-8", "surrogateescape")
        for once in (quoted(value)[1:-1], ascii_string(text)[1:-1]):
            yield once
            yield quoted(once)[1:-1]


def _blank_email(payload: bytes) -> bytes:
    """Also where the field stands in JSON inside a JSON string, with escaped quotes."""
    done = []
    rest = payload
    while True:
        before, found, rest = rest.partition(b"user_email")
        done.append(before + found)
        if not found:
            return b"".join(done)
        closing = rest.lstrip(b"\\")[:1] == b'"'
        value = rest.partition(b":")[2].lstrip(b" \t")
        opening = value.lstrip(b"\\")
        if closing and opening.startswith(b'"'):
            text = opening[1:]
            done.append(rest[: len(rest) - len(text)])
            rest = text[_plain_length(text) :]


def _plain_length(text: bytes) -> int:
    """Bytes up to the next quote or backslash; an e-mail address holds neither."""
    ends = [end for end in (text.find(b'"'), text.find(b"\\")) if end >= 0]
    return min(ends, default=0)
