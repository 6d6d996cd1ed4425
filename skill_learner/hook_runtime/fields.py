"""The top-level string values of a JSON object, read from its bytes without a JSON parser.

`import json` alone would double the cost of a hook. Editors write the few fields that a hook needs
first, so the scan is short and gives up early; text inside a value is never taken for a field.
"""

_MOST_FIELDS = 24
_LONGEST_NESTED = 8192  # bytes of a nested value that are worth walking through
_LONGEST_DECODED = 8192
_SPACE = b" \t\r\n"


def read_fields(payload: bytes) -> dict[bytes, bytes]:
    """Field name to decoded string value (values above 8 kB stay as they stand in the payload)."""
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
            place = _string_end(payload, start + 1)
            value = payload[start + 1 : place]
            if b"\\" in value and len(value) <= _LONGEST_DECODED:
                from skill_learner.hook_runtime.json_bytes import unquoted

                value = unquoted(value)
            fields.setdefault(payload[opening + 1 : closing], value)
            place += 1
        elif first in (b"{", b"["):
            place = _nested_end(payload, start)
        else:
            place = payload.find(b",", start)
        if place <= 0:
            break
        rest = payload[place : place + 64].lstrip(_SPACE)
        if not rest.startswith(b","):
            break
    return fields


def _string_end(payload: bytes, place: int) -> int:
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


def _nested_end(payload: bytes, place: int) -> int:
    """Place behind the object or array that begins at `place`; 0 when it is too long to walk."""
    depth = 0
    limit = min(len(payload), place + _LONGEST_NESTED)
    while place < limit:
        byte = payload[place]
        if byte == 0x22:
            place = _string_end(payload, place + 1)
        elif byte in (0x7B, 0x5B):
            depth += 1
        elif byte in (0x7D, 0x5D):
            depth -= 1
            if not depth:
                return place + 1
        place += 1
    return 0
