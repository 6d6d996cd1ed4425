"""JSON strings to bytes and back, for hooks that must not import json. Loaded only when needed."""

_ESCAPES = {0x22: b'"', 0x5C: b"\\", 0x2F: b"/", 0x62: b"\b", 0x66: b"\f", 0x6E: b"\n"}
_ESCAPES.update({0x72: b"\r", 0x74: b"\t"})
_CONTROLS = bytes(range(0x20))


def quoted(data: bytes) -> bytes:
    """`data` as a JSON string in UTF-8. Bytes that are not UTF-8 become U+FFFD."""
    if not data.isascii():
        data = data.decode("utf-8", "replace").encode("utf-8")
    return b'"' + _escaped(data) + b'"'


def quoted_path(path: bytes) -> bytes:
    """As `quoted`, but bytes that are not UTF-8 become lone surrogates, as in os.fsdecode."""
    try:
        path.decode("utf-8")
    except UnicodeDecodeError:
        return ascii_string(path.decode("utf-8", "surrogateescape"))
    return quoted(path)


def ascii_string(text: str) -> bytes:
    """`text` as a JSON string of ASCII characters only."""
    out = []
    for character in text:
        code = ord(character)
        if code > 0xFFFF:
            code -= 0x10000
            out.append(f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}")
        elif code > 0x7E or code < 0x20:
            out.append(f"\\u{code:04x}")
        else:
            out.append("\\" + character if character in '"\\' else character)
    return ('"' + "".join(out) + '"').encode("ascii")


def unquoted(raw: bytes) -> bytes:
    """The bytes that a JSON string's inside stands for; a faulty escape stays as it is."""
    first, *pieces = raw.split(b"\\")
    out = [first]
    pieces.reverse()
    while pieces:
        piece = pieces.pop()
        if not piece:  # an escaped backslash: the next piece is plain text
            out.append(b"\\" + (pieces.pop() if pieces else b""))
        elif piece[0] == 0x75:
            code = _code_unit(piece)
            if 0xD800 <= code < 0xDC00 and pieces and len(piece) == 5:
                low = _code_unit(pieces[-1])
                if 0xDC00 <= low < 0xE000:
                    piece = pieces.pop()
                    code = 0x10000 + ((code - 0xD800) << 10) + low - 0xDC00
            out.append(_encoded(code) + piece[5:] if code >= 0 else b"\\" + piece)
        else:
            known = _ESCAPES.get(piece[0])
            out.append(known + piece[1:] if known else b"\\" + piece)
    return b"".join(out)


def _encoded(code: int) -> bytes:
    # A surrogate escape of os.fsdecode goes back to its byte, any other lone one stays encodable.
    if 0xDC80 <= code <= 0xDCFF:
        return bytes((code - 0xDC00,))
    return chr(code).encode("utf-8", "replace")


def _code_unit(piece: bytes) -> int:
    digits = piece[1:5]
    if piece[:1] != b"u" or len(digits) < 4 or digits.translate(None, b"0123456789abcdefABCDEF"):
        return -1
    return int(digits, 16)


def _escaped(data: bytes) -> bytes:
    data = data.replace(b"\\", b"\\\\").replace(b'"', b'\\"')
    if len(data.translate(None, _CONTROLS)) != len(data):
        data = data.replace(b"\n", b"\\n").replace(b"\r", b"\\r").replace(b"\t", b"\\t")
        for code in _CONTROLS:
            data = data.replace(bytes((code,)), b"\\u%04x" % code)
    return data
