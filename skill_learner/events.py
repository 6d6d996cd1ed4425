"""One hook event, as every editor's target hands it to the hook runtime.

Plain classes and constants: this module is imported by every hook process.
"""

# What an event means, whatever the editor calls it.
SESSION_START = "session_start"
PROMPT = "prompt"
TOOL = "tool"
TURN_END = "turn_end"
SESSION_END = "session_end"
OTHER = "other"


class HookEvent:
    """name: the editor's own name of the event. kind: one of the constants above.

    session_id: as the editor gave it, decoded from JSON; b"" when it gave none.
    start_dir: the folder that decides the project. client_pid: 0 when unknown.
    cause: why a session started or ended (`startup`, `resume`, `clear`, ...), else b"".
    counts: whether this is one tool call or human turn of the main agent.
    """

    __slots__ = (
        "cause",
        "client_pid",
        "counts",
        "editor",
        "kind",
        "name",
        "session_id",
        "start_dir",
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
