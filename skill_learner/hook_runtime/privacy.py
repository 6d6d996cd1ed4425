"""What the user never wants kept: ignored projects, paths and tools, and `<private>` spans.

Loaded by a hook only when there is something to ignore; reviews apply the same rules to what an
editor's own transcript tells (see `skill_learner.privacy`).
"""

from skill_learner.hook_runtime.payload import string_end
from skill_learner.hook_runtime.project_key import expanded, resolve
from skill_learner.hook_runtime.state_folder import IGNORE_KEYS
from skill_learner.hook_runtime.system import IS_MAC, IS_WINDOWS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

PRIVATE = b"<private>"
_PRIVATE_END = b"</private>"
BLANK = b"[private]"
_NAME = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-."
_MOST_DECODED = 1 << 18
_CALL_FIELDS = (b"tool_input", b"command", b"file_path", b"arguments")


def ignores(conf: bytes, environ: "Mapping[bytes, bytes]") -> "dict[bytes, list[bytes]]":
    """The lines `ignore_project=`, `ignore_path=`, `ignore_tool=` of hook.conf, by key; a variable
    stands for all lines of its kind."""
    found: dict[bytes, list[bytes]] = {key: [] for key in IGNORE_KEYS}
    for line in conf.split(b"\n"):
        key, _, value = line.partition(b"=")
        if value and key in found:
            found[key].append(value)
    for key, name in IGNORE_KEYS.items():
        if environ.get(name):
            words = [word.strip() for word in environ[name].split(b",") if word.strip()]
            found[key] = _as_lines(key, words, environ)
    return found


def _as_lines(key: bytes, words: "list[bytes]", environ: "Mapping[bytes, bytes]") -> "list[bytes]":
    """As hook.conf would hold the words of a variable."""
    if key == b"ignore_project":
        return [resolve(expanded(word, environ)) for word in words]
    if key == b"ignore_path":
        home = expanded(b"~", environ)
        return [form for word in words for form in forms(word, expanded(word, environ), home)]
    return words


def forms(path: bytes, whole: bytes, home: bytes) -> "dict[bytes, None]":
    """The ways to write a path that tool calls have: the home folder in full, as `~` or by its
    variable; what a backslash parts is parted by two within JSON, and by `/` elsewhere. whole: the
    path with its home folder in full."""
    written = [whole, path]
    if len(home) > 1 and whole.startswith((home + b"/", home + (b"\\" if IS_WINDOWS else b"/"))):
        written += [name + whole[len(home) :] for name in (b"~", b"$HOME", b"${HOME}")]
    found = dict.fromkeys(written)
    for form in written:
        if b"\\" in form:
            plain = form.replace(b"\\", b"/").rstrip(b"/")
            found.update(dict.fromkeys(plain.replace(b"/", p) for p in (b"/", b"\\", b"\\\\")))
    return found


def is_ignored(
    conf: bytes,
    folders: "Iterable[bytes]",
    fields: "Mapping[bytes, bytes]",
    payload: bytes,
    environ: "Mapping[bytes, bytes]",
) -> bool:
    """Whether this event is to leave no trace. folders: the worktree and the project."""
    wanted = ignores(conf, environ)
    if any(lies_in(folder, top) for folder in folders for top in wanted[b"ignore_project"]):
        return True
    tool = fields.get(b"tool_name", b"")
    if any(is_named(tool, pattern) for pattern in wanted[b"ignore_tool"]):
        return True
    if not wanted[b"ignore_path"]:
        return False
    called = [fields[name] for name in _CALL_FIELDS if name in fields]
    if tool and b"tool_input" not in fields:  # too long to be walked through: look everywhere
        called = [payload]
    escaped = [text[:_MOST_DECODED] for text in called if b"\\" in text]
    if escaped:
        from skill_learner.hook_runtime.json_bytes import unquoted

        called += [unquoted(text) for text in escaped]
    return names_any(called, wanted[b"ignore_path"])


def lies_in(folder: bytes, top: bytes) -> bool:
    """Whether `folder` is `top` or below it. Windows' paths are equal in any spelling."""
    if top[:1] != b"/" or top[:2] == b"//":
        from skill_learner.hook_runtime.windows_paths import comparable

        folder, top = comparable(folder), comparable(top)
    top = top.rstrip(b"/")
    return folder == top or folder.startswith(top + b"/")


def is_named(name: bytes, pattern: bytes) -> bool:
    """A pattern is a name, or the beginning of one and `*`."""
    if pattern.endswith(b"*"):
        return bool(name) and name.startswith(pattern[:-1])
    return name == pattern


def names_any(texts: "list[bytes]", paths: "list[bytes]") -> bool:
    """Whether one of the texts names one of the paths, as shells write them and this system finds
    files."""
    texts = [*texts, *(text.replace(b"\\ ", b" ") for text in texts if b"\\ " in text)]
    if IS_WINDOWS or IS_MAC:  # by capitals or without
        texts = [text.lower() for text in texts]
        paths = [path.lower() for path in paths]
    return any(names_path(text, path) for text in texts for path in paths)


def names_path(text: bytes, path: bytes) -> bool:
    """Whether a path stands in a text as a whole name: `.env` in `cat ./.env`, not in
    `process.env` nor in `.env.example`. With `*` at its end it may go on."""
    open_end = path.endswith(b"*")
    path = path.rstrip(b"*").rstrip(b"/")
    place = text.find(path) if path else -1
    while place >= 0:
        end = place + len(path)
        starts = place == 0 or text[place - 1] not in _NAME
        if starts and (open_end or end == len(text) or text[end] not in _NAME):
            return True
        place = text.find(path, place + 1)
    return False


def blank_private(payload: bytes) -> bytes:
    """The payload with every `<private>` span blanked. A span that is not closed goes on to the end
    of its JSON string; the document stays one."""
    if b"\\u003" in payload:
        payload = _with_plain_tags(payload)
    done = []
    while True:
        before, found, rest = payload.partition(PRIVATE)
        done.append(before)
        if not found:
            return b"".join(done)
        done.append(BLANK)
        end = string_end(rest, 0)
        close = rest.find(_PRIVATE_END, 0, end)
        payload = rest[end:] if close < 0 else rest[close + len(_PRIVATE_END) :]


def _with_plain_tags(payload: bytes) -> bytes:
    """The payload with the brackets of our tags as themselves, where a JSON writer escaped them."""
    first, *pieces = payload.split(b"\\u003")
    done = [first]
    for piece in pieces:
        before = done[-1]
        is_escape = (len(before) - len(before.rstrip(b"\\"))) % 2 == 0
        kind, rest = piece[:1].lower(), piece[1:]
        if is_escape and kind == b"c" and rest.startswith((b"private", b"/private")):
            done.append(b"<" + rest)
        elif is_escape and kind == b"e" and before.endswith(b"private"):
            done.append(b">" + rest)
        else:
            done.append(b"\\u003" + piece)
    return b"".join(done)
