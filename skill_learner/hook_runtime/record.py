"""One event as one journal line (the format is in ARCHITECTURE.md)."""

from skill_learner.events import HookEvent
from skill_learner.hook_runtime.secrets import blank_secrets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

SMALLEST_CAP = 4096
_BOM = b"\xef\xbb\xbf"
_PLAIN_PATH = (
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/-_.+,:;=@%~#()[]{} '!$&*<>?^`|"
)


def build_record(
    event: HookEvent, payload: bytes, at: int, environ: "Mapping[bytes, bytes]", payload_cap: int
) -> bytes:
    """The line, with the newline that begins it and none at its end: a line torn by a kill can then
    never swallow the next one."""
    return b'\n{"v":1,"t":%d,"e":"%s","ed":"%s","k":"%s","p":%s,"c":%d,"d":%s}' % (
        at,
        event.name.encode("ascii", "replace"),
        event.editor.encode("ascii"),
        event.project_key.encode("ascii"),
        _path(event.project),
        event.client_pid,
        _data(payload, environ, max(payload_cap, SMALLEST_CAP)),
    )


def _path(path: bytes) -> bytes:
    if not path.translate(None, _PLAIN_PATH):
        return b'"' + path + b'"'
    from skill_learner.hook_runtime.json_bytes import quoted_path

    return quoted_path(path)


def _data(payload: bytes, environ: "Mapping[bytes, bytes]", cap: int) -> bytes:
    received = len(payload)
    text = blank_secrets(payload.removeprefix(_BOM).strip(), environ)
    if not (text.startswith(b"{") and text.endswith(b"}")):
        return b'{"damaged":' + _quoted(_head(text, cap // 4)) + b"}"
    if len(text) > cap:
        # A quarter each: escaping can double it, and the whole stays below the cap.
        head, tail = _quoted(_head(text, cap // 4)), _quoted(_tail(text, cap // 4))
        return b'{"cut":%d,"head":%s,"tail":%s}' % (received, head, tail)
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
