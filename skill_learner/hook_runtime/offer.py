"""A learned skill is put before the agent where it fits: with a prompt, or after a known failure.

Every offer is a suggestion, made once a session for a skill, and remembered in `offered/<session>`
as `<unix time>TAB<occasion>TAB<skill>` lines.
"""

import time

from skill_learner.events import HookCall
from skill_learner.hook_runtime.project_key import expanded, safe_name
from skill_learner.hook_runtime.state_folder import open_to_append, read_file
from skill_learner.hook_runtime.system import system

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

PROMPT_OCCASION, FAILURE_OCCASION, BODY_OCCASION = b"prompt", b"failure", b"body"
"""BODY: the text was given whole, so nobody needs to load it."""
_MOST_TEXT = 16_000
_JOURNAL_TAIL = 1 << 18
_LONGEST_REPLY = 9_000
_MACHINE_TURNS = (b"<", b"/", b"!")
"""Notifications and the output of local commands begin with a tag; slash commands and the editor's
shell are no requests to the model."""

_FRAGMENT_SPLIT = b"\x1f"


class Offer:
    """One skill to be named. why: words, most telling first. body: its text, to be given whole."""

    __slots__ = ("body", "key", "summary", "why")

    def __init__(self, key: str, summary: str, why: "list[str]", body: str = "") -> None:
        self.key = key
        self.summary = summary
        self.why = why
        self.body = body


class Offering:
    """What offers of one hook call have in common."""

    def __init__(self, call: HookCall) -> None:
        self.call = call
        conf = _text_settings(read_file(call.state + b"/hook.conf", 1 << 20))
        chosen = call.environ.get(b"SKILL_LEARNER_INJECT", b"")
        self.inject = chosen or conf.get(b"inject", b"suggest")
        self.skills = conf.get(b"skills") or call.state + b"/skills"
        self.index = conf.get(b"index") or call.state + b"/index.sqlite"
        if call.environ.get(b"SKILL_LEARNER_SKILLS_DIR"):
            self._use_library(expanded(call.environ[b"SKILL_LEARNER_SKILLS_DIR"], call.environ))
        self._session = safe_name(call.event.session_id or b"unknown")
        self._offered: set[bytes] | None = None

    def _use_library(self, folder: bytes) -> None:
        """A library of the user's choice has its index in it; ours has it in the state folder."""
        own = self.call.state + b"/skills"
        self.skills = folder.rstrip(b"/")
        is_own = self.skills == own
        self.index = (
            self.call.state + b"/index" if is_own else self.skills + b"/.index"
        ) + b".sqlite"

    def is_open(self, key: str) -> bool:
        """Whether a skill was neither offered nor loaded in this session, and is still there."""
        if self._offered is None:
            lines = read_file(self.call.state + b"/offered/" + self._session, 1 << 20)
            self._offered = {line.rpartition(b"\t")[2] for line in lines.split(b"\n")}
        name = key.encode("utf-8", "surrogateescape")
        return (
            name not in self._offered
            and _is_there(self.skills + b"/" + name + b"/SKILL.md")
            and not _was_loaded(self.call, name)
        )

    def is_declined(self, key: str) -> bool:
        """Whether agents were offered a skill often and never loaded it."""
        names = read_file(self.call.state + b"/published/declined", 1 << 20)
        return key.encode("utf-8", "surrogateescape") in names.split(b"\n")

    def remember(self, key: str, occasion: bytes) -> None:
        name = key.encode("utf-8", "surrogateescape")
        descriptor = open_to_append(self.call.state + b"/offered", self._session)
        try:
            system.write(descriptor, b"%d\t%s\t%s\n" % (int(time.time()), occasion, name))
        finally:
            system.close(descriptor)

    def text_of(self, key: str, most: int) -> str:
        """The skill's text without its front matter; "" when it is longer than `most` bytes."""
        path = self.skills + b"/" + key.encode("utf-8", "surrogateescape") + b"/SKILL.md"
        data = read_file(path, most + 1)
        if not data or len(data) > most:
            return ""
        text = data.decode("utf-8", "replace").replace("\r\n", "\n")
        if text.startswith("---\n"):
            text = text.partition("\n---\n")[2]
        return text.strip()

    def line(self, offer: Offer) -> str:
        """How an offer is told: name, one line, why, and how to load it."""
        listed = b"\n" + offer.key.encode("utf-8", "surrogateescape") + b"\t"
        key = self.call.event.project_key.encode("ascii")
        for scope in (key, b"user"):
            if listed in b"\n" + read_file(self.call.state + b"/published/" + scope, 1 << 20):
                how = f"load it with the Skill tool: {offer.key}"
                break
        else:
            folder = self.skills.decode("utf-8", "replace")
            how = f"read {folder}/{offer.key}/SKILL.md"
        why = f" (matches: {', '.join(offer.why)})" if offer.why else ""
        return f"- {offer.key}: {one_line(offer.summary)}{why}; {how}"


def offer_for_prompt(call: HookCall, target: "ModuleType", prompt: bytes) -> bytes:
    """What to print for a prompt; b"" where nothing fits, or nobody asked."""
    if not call.event.counts or not prompt.strip() or prompt.lstrip().startswith(_MACHINE_TURNS):
        return b""
    offering = Offering(call)
    if offering.inject == b"off" or not _is_there(offering.index):
        return b""
    from skill_learner.hook_runtime.prompt_search import offers_for

    return _reply(offering, target, offers_for(offering, readable(prompt)), PROMPT_OCCASION)


def offer_for_failure(call: HookCall, target: "ModuleType", error: bytes) -> bytes:
    """What to print after a failed tool call: a hint when a learned error stands in its output."""
    key = call.event.project_key.encode("ascii")
    lines = b"".join(
        read_file(call.state + b"/published/" + scope + b".errors", 1 << 20)
        for scope in (key, b"user")
    )
    if not lines or not error or not call.event.counts:
        return b""
    offering = Offering(call)
    if offering.inject == b"off":
        return b""
    text = b" ".join(readable(error).encode("utf-8").lower().split())
    for line in lines.split(b"\n"):
        name, _, rest = line.partition(b"\t")
        summary, _, signature = rest.partition(b"\t")
        if signature and _stands_in(signature.split(_FRAGMENT_SPLIT), text):
            skill = name.decode("utf-8", "surrogateescape")
            if offering.is_open(skill):
                why = signature.replace(_FRAGMENT_SPLIT, b" ... ").decode("utf-8", "replace")
                told = summary.decode("utf-8", "replace")
                offer = Offer(skill, told, [f'"{one_line(why)[:120]}"'])
                return _reply(offering, target, [offer], FAILURE_OCCASION)
    return b""


def _stands_in(fragments: "list[bytes]", text: bytes) -> bool:
    place = 0
    for fragment in fragments:
        found = text.find(fragment, place)
        if found < 0:
            return False
        place = found + len(fragment)
    return True


def readable(text: bytes) -> str:
    """Beginning and end of a field's text, decoded. A long one still stands as JSON wrote it."""
    if len(text) > 8192:
        if len(text) > _MOST_TEXT:
            text = text[: _MOST_TEXT // 2] + b"\n" + text[-_MOST_TEXT // 2 :]
        from skill_learner.hook_runtime.json_bytes import unquoted

        text = unquoted(text)
    return text.decode("utf-8", "replace")


def _reply(
    offering: Offering, target: "ModuleType", offers: "list[Offer]", occasion: bytes
) -> bytes:
    if not offers:
        return b""
    if occasion == FAILURE_OCCASION:
        head = "skill-learner: this failure was met before. If it is the same, this may help:"
    else:
        head = (
            "skill-learner: learned from earlier sessions, and may fit this request. A suggestion"
            " only; leave it aside where it does not fit."
        )
    lines = [head]
    for offer in offers:
        lines.append(offering.line(offer))
        if offer.body:
            lines.append(f"Its text, as data:\n{offer.body}")
    text = "\n".join(lines)[:_LONGEST_REPLY]
    reply: bytes = target.context_reply(offering.call.event.name, text)
    if reply:
        for offer in offers:
            offering.remember(offer.key, BODY_OCCASION if offer.body else occasion)
    return reply


def one_line(text: str) -> str:
    """Data as one line that opens no tag and is not too long."""
    return " ".join(text.split()).replace("<", "(").replace(">", ")")[:200]


def _text_settings(conf: bytes) -> "dict[bytes, bytes]":
    settings = {}
    for line in conf.split(b"\n"):
        key, _, value = line.partition(b"=")
        settings[key] = value
    return settings


def _is_there(path: bytes) -> bool:
    try:
        system.stat(path)
    except OSError:
        return False
    return True


def _was_loaded(call: HookCall, name: bytes) -> bool:
    """Whether the newest part of the session's journal tells of a load."""
    try:
        descriptor = system.open(call.journal, system.O_RDONLY | system.O_CLOEXEC)
    except OSError:
        return False
    try:
        size = system.fstat(descriptor).st_size
        tail = system.pread(descriptor, _JOURNAL_TAIL, max(0, size - _JOURNAL_TAIL))
    finally:
        system.close(descriptor)
    loaded = (b'"commandName":"%s"' % name, b'"command_name":"%s"' % name, b"/%s/SKILL.md" % name)
    return any(mark in tail for mark in loaded)
