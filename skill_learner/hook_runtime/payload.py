"""What is done to a payload's bytes before they are kept: fields read, secrets blanked, one line.

All of it without a JSON parser: `import json` alone would double the cost of a hook. These three
stand in one module because each import costs as much as the work itself (see scripts/bench_hooks).
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# -- fields ------------------------------------------------------------------------------------

_MOST_FIELDS = 24
_LONGEST_NESTED = 8192  # bytes of a nested value, strings aside, that are worth walking through
_LONGEST_DECODED = 8192
_SPACE = b" \t\r\n"


def read_fields(payload: bytes) -> dict[bytes, bytes]:
    """Top-level field name to decoded string value (above 8 kB: as it stands in the payload), or to
    the text of an object or array.

    Editors write the few fields that a hook needs first, so the scan is short and gives up early;
    text inside a value is never taken for a field.
    """
    fields: dict[bytes, bytes] = {}
    place = payload.find(b"{") + 1
    if not place or payload[: place - 1].strip(_SPACE + b"\xef\xbb\xbf"):
        return fields
    for _ in range(_MOST_FIELDS):
        opening = payload.find(b'"', place)
        closing = payload.find(b'"', opening + 1)
        colon = payload.find(b":", closing)
        if opening < 0 or closing < 0 or colon < 0:
            break
        start = colon + 1
        while payload[start : start + 1] in (b" ", b"\t", b"\n", b"\r"):
            start += 1
        first = payload[start : start + 1]
        if first == b'"':
            place = string_end(payload, start + 1)
            value = payload[start + 1 : place]
            if b"\\" in value and len(value) <= _LONGEST_DECODED:
                from skill_learner.hook_runtime.json_bytes import unquoted

                value = unquoted(value)
            fields.setdefault(payload[opening + 1 : closing], value)
            place += 1
        elif first in (b"{", b"["):
            place = _take_nested(fields, payload[opening + 1 : closing], payload, start)
        else:
            place = payload.find(b",", start)
        if place <= 0:
            break
        rest = payload[place : place + 64].lstrip(_SPACE)
        if not rest.startswith(b","):
            break
    return fields


def string_end(payload: bytes, place: int) -> int:
    """Place of the quote that closes the string whose text begins at `place`."""
    while True:
        quote = payload.find(b'"', place)
        if quote < 0:
            return len(payload)
        before = quote - 1
        while before >= 0 and payload[before] == 0x5C:
            before -= 1
        if (quote - before) % 2:
            return quote
        place = quote + 1


def _take_nested(fields: dict[bytes, bytes], name: bytes, payload: bytes, start: int) -> int:
    """Place behind the object or array; 0, and nothing taken, when it is too long to walk."""
    place = _nested_end(payload, start)
    if place:
        fields.setdefault(name, payload[start:place])
    return place


def _nested_end(payload: bytes, place: int) -> int:
    """Place behind the object or array that begins at `place`; 0 when it is too long to walk."""
    limit = min(len(payload), place + _LONGEST_NESTED)
    end = payload.find(b"}" if payload[place] == 0x7B else b"]", place, limit)
    inside = payload[place + 1 : end]
    flat = end > 0 and not (b"{" in inside or b"[" in inside or b"\\" in inside)
    if flat and inside.count(b'"') % 2 == 0:  # and the end does not stand within a string
        return end + 1
    depth = 0
    steps = _LONGEST_NESTED
    while place < len(payload) and steps:
        steps -= 1
        byte = payload[place]
        if byte == 0x22:
            place = string_end(payload, place + 1)
        elif byte in (0x7B, 0x5B):
            depth += 1
        elif byte in (0x7D, 0x5D):
            depth -= 1
            if not depth:
                return place + 1
        place += 1
    return 0


# -- secrets -----------------------------------------------------------------------------------

BLANK = b"[redacted]"
_SHORTEST = 8
_ANYWHERE = (b"SECRET", b"PASSW", b"PASSPHRASE", b"CREDENTIAL", b"APIKEY", b"TOKEN", b"PRIVATE")
_AS_A_WORD = frozenset((b"KEY", b"AUTH", b"PASS", b"AUTHORIZATION", b"COOKIE"))
_AT_THE_END = (b"_PWD", b"_PAT")
_NOT_SECRET_ENDINGS = frozenset(
    (b"SOCK", b"FILE", b"PATH", b"DIR", b"HOME", b"TOKENS", b"PARALLELISM", b"METHOD", b"TYPE")
)
_NUMBER = b"0123456789.+-eE"


def blank_secrets(payload: bytes, environ: "Mapping[bytes, bytes]", is_json: bool) -> bytes:
    """The payload without values of secret-named variables (plain or JSON-escaped) and without
    the value of any `user_email` field. A JSON document stays one."""
    for value in secret_values(environ):
        # What looks like a number may stand as one: a number replaces it.
        blank = BLANK if value.translate(None, _NUMBER) else b"9" * len(value)
        for form in _forms(value, is_json):
            if form in payload:
                payload = payload.replace(form, blank)
    if b"user_email" in payload:
        payload = _blank_email(payload)
    return payload


def secret_values(environ: "Mapping[bytes, bytes]") -> list[bytes]:
    """Values of at least eight bytes of variables named like a secret, the longest first, as one
    may hold another."""
    values = []
    for name, value in environ.items():
        if len(value) >= _SHORTEST and is_secret_name(name.upper()):
            stripped = value.strip()
            if len(stripped) >= _SHORTEST:
                values.append(stripped)
    if len(values) > 1:
        values.sort(key=len, reverse=True)
    return values


def is_secret_name(name: bytes) -> bool:
    """By the words of an upper-case name: API_KEY yes, KEYBOARD no, SSH_AUTH_SOCK no (a path)."""
    for part in _ANYWHERE:
        if part in name:
            break
    else:
        if _AS_A_WORD.isdisjoint(name.split(b"_")):
            return name.endswith(_AT_THE_END)
    return name.rpartition(b"_")[2] not in _NOT_SECRET_ENDINGS


def _forms(value: bytes, is_json: bool) -> "Iterator[bytes]":
    """The value as it may stand in a payload: raw, inside a JSON string, in JSON inside JSON. Raw
    quotes or backslashes of a JSON document are its syntax, never part of a value."""
    special = b'"' in value or b"\\" in value or min(value) < 0x20
    if not (special and is_json):
        yield value
    if special or not value.isascii():
        from skill_learner.hook_runtime.json_bytes import ascii_string, quoted

        text = value.decode("utf-8", "surrogateescape")
        for once in (quoted(value)[1:-1], ascii_string(text)[1:-1]):
            yield quoted(once)[1:-1]
            yield once


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


# -- line --------------------------------------------------------------------------------------

SMALLEST_CAP = 4096
_BOM = b"\xef\xbb\xbf"


def as_json_value(payload: bytes, environ: "Mapping[bytes, bytes]", cap: int) -> bytes:
    """The payload as one JSON value without raw line breaks, of at most about `cap` bytes."""
    cap = max(cap, SMALLEST_CAP)
    text = payload.lstrip(_BOM).strip()  # there may be two
    is_json = text.startswith(b"{") and text.endswith(b"}")
    text = blank_secrets(text, environ, is_json)
    if b"private" in text and (b"<private>" in text or b"\\u003" in text):
        from skill_learner.hook_runtime.privacy import blank_private

        text = blank_private(text)
    if not is_json:
        return b'{"damaged":' + _quoted(_head(text, cap // 4)) + b"}"
    if len(text) > cap:
        # A quarter each: escaping can double it, and the whole stays below the cap.
        head, tail = _quoted(_head(text, cap // 4)), _quoted(_tail(text, cap // 4))
        return b'{"cut":%d,"head":%s,"tail":%s}' % (len(payload), head, tail)
    # Within JSON a raw line break can only be white space between tokens.
    if b"\n" in text:
        text = text.replace(b"\n", b" ")
    if b"\r" in text:
        text = text.replace(b"\r", b" ")
    return text


def _quoted(text: bytes) -> bytes:
    from skill_learner.hook_runtime.json_bytes import quoted

    return quoted(text)


def _head(text: bytes, size: int) -> bytes:
    """At most `size` bytes from the start, not ending within a UTF-8 character."""
    if len(text) <= size:
        return text
    while size and text[size] & 0xC0 == 0x80:
        size -= 1
    return text[:size]


def _tail(text: bytes, size: int) -> bytes:
    start = len(text) - size
    while start < len(text) and text[start] & 0xC0 == 0x80:
        start += 1
    return text[start:]
