"""A session starts: recover what was left, give a fresh worktree its skills, tell the news."""

from skill_learner.events import HookCall
from skill_learner.hook_runtime.requests import ReviewRequests
from skill_learner.hook_runtime.state_folder import read_file
from skill_learner.hook_runtime.system import system

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

_LONGEST_NEWS = 2000


def on_start(call: HookCall, target: "ModuleType") -> bytes:
    """What to print. After anything but a fresh start (a resume, a compaction) that is nothing."""
    _recover(call)
    if call.event.cause != b"startup":
        return b""
    key = call.event.project_key.encode("ascii")
    published = read_file(call.state + b"/published/" + key, 1 << 20)
    has_skills, index = bool(published), b""
    if call.event.worktree != call.event.project:
        from skill_learner.hook_runtime.worktree import link_skills

        has_skills, index = link_skills(call, target, published)
    news = _take_news(call.state + b"/news/" + key)
    if not (has_skills or news or index):
        return b""
    reply: bytes = target.start_reply(news, has_skills, index.decode("utf-8", "replace"))
    return reply


def _recover(call: HookCall) -> None:
    from skill_learner.hook_runtime.recovery import request_lost_sessions

    requests = ReviewRequests(call.state)
    is_pending = _exists(call.state + b"/jobs/pending")
    request_lost_sessions(call, requests, is_pending)
    if is_pending or requests.any():
        from skill_learner.hook_runtime.detach import start_review

        start_review(call)


def _take_news(path: bytes) -> str:
    """Each piece of news is told once: whoever renames the file first tells it."""
    taken = path + b".%d" % system.getpid()
    try:
        system.rename(path, taken)
    except OSError:
        return ""
    text = read_file(taken).decode("utf-8", "replace").strip()
    system.unlink(taken)
    return text[:_LONGEST_NEWS]


def _exists(path: bytes) -> bool:
    try:
        system.stat(path)
    except OSError:
        return False
    return True
