"""One hook event, as every editor's target hands it to the hook runtime.

Plain classes and constants: this module is imported by every hook process.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

# What an event means, whatever the editor calls it.
SESSION_START = "session_start"
PROMPT = "prompt"
TOOL = "tool"
TURN_END = "turn_end"
SESSION_END = "session_end"
OTHER = "other"

TOOL_FAILURE = "PostToolUseFailure"  # the one name that matters beyond its kind


class HookEvent:
    """name: Claude Code's name for such an event, whatever the editor calls it (its own where there
    is none). kind: one of the constants above.

    session_id: as the editor gave it, decoded from JSON; b"" when it gave none.
    start_dir: the folder that decides the project. client_pid: 0 when unknown.
    cause: why a session started or ended (`startup`, `resume`, `clear`, ...), else b"".
    counts: whether this is one tool call or human turn of the main agent.
    twin_key: tells this event from others of its session, where the editor may run several of our
    hooks for one event; else b"".
    worktree, project, project_key: filled in by the runtime; project is the main worktree.
    """

    __slots__ = (
        "cause",
        "client_pid",
        "counts",
        "editor",
        "kind",
        "name",
        "project",
        "project_key",
        "session_id",
        "start_dir",
        "twin_key",
        "worktree",
    )

    def __init__(self, editor: str, name: str, kind: str) -> None:
        self.editor = editor
        self.name = name
        self.kind = kind
        self.session_id = b""
        self.start_dir = b""
        self.client_pid = 0
        self.cause = b""
        self.counts = False
        self.twin_key = b""
        self.worktree = b""
        self.project = b""
        self.project_key = ""


class HookCall:
    """A hook call whose event is in the journal, as the follow-up steps need it.

    state: the state folder. journal: path of the session's journal. size_before: its size before
    this event. umask: the user's own, for what is written outside the state folder.
    """

    __slots__ = ("environ", "event", "journal", "settings", "size_before", "state", "umask")

    def __init__(self, state: bytes, event: HookEvent, environ: "Mapping[bytes, bytes]") -> None:
        self.state = state
        self.event = event
        self.environ = environ
        self.settings: dict[bytes, int] = {}
        self.journal = b""
        self.size_before = 0
        self.umask = 0o022
