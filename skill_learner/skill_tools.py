"""Tools by which a model reaches the library: load, search, and save on the user's request."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol

from skill_learner.errors import LibraryError, SkillLearnerError
from skill_learner.models import CreateSkill, Skill

Shape = Literal["anthropic", "openai"]

MOST_CHARACTERS = 8_000

_TEXT = {"type": "string"}
_TOOLS: tuple[dict[str, Any], ...] = (
    {
        "name": "load_skill",
        "description": "Read one skill of the library in full.",
        "input_schema": {
            "type": "object",
            "properties": {"name": {**_TEXT, "description": "The skill's name."}},
            "required": ["name"],
        },
    },
    {
        "name": "search_skills",
        "description": "Find skills of the library that serve a task: names and descriptions.",
        "input_schema": {
            "type": "object",
            "properties": {
                "query": {**_TEXT, "description": "The task, in a few words."},
                "top_k": {"type": "integer", "minimum": 1, "maximum": 20},
            },
            "required": ["query"],
        },
    },
    {
        "name": "save_skill",
        "description": (
            "Keep something for later sessions. Only when the user asked to remember it; "
            "never secrets or personal data."
        ),
        "input_schema": {
            "type": "object",
            "properties": {
                "name": {**_TEXT, "description": "Two to five words that name the task."},
                "description": {**_TEXT, "description": "When to use it: `Use when ...`."},
                "body": {**_TEXT, "description": "What to do, in Markdown."},
            },
            "required": ["name", "description", "body"],
        },
    },
)
TOOL_NAMES = tuple(str(tool["name"]) for tool in _TOOLS)


class ToolLibrary(Protocol):
    def get(self, name: str) -> Skill: ...

    def create(
        self,
        draft: CreateSkill,
        *,
        state: Any,
        scope: str,
        project_slug: str,
        origin: str,
        session: str,
    ) -> Skill: ...


class SkillTools:
    """search: finds skills for a query. on_use: told of each skill that was read in full. on_save:
    of each that was saved.
    allowed: whether a skill may be shown to this agent. state: of what `save_skill` makes."""

    def __init__(
        self,
        library: ToolLibrary,
        search: Callable[[str, int], Sequence[Skill]],
        on_use: Callable[[str], None],
        on_save: Callable[[str], None],
        allowed: Callable[[Skill], bool],
        state: Callable[[], str],
    ) -> None:
        self._library = library
        self._search = search
        self._on_use = on_use
        self._on_save = on_save
        self._allowed = allowed
        self._state = state

    def handle(self, name: str, arguments: Any, session: str) -> str:
        """Run a tool call; the text is for the model, errors too: nothing is raised."""
        handlers = {
            "load_skill": self._load,
            "search_skills": self._find,
            "save_skill": self._save,
        }
        handler = handlers.get(name)
        if handler is None:
            return f"Error: there is no tool {name!r}; there are {', '.join(TOOL_NAMES)}."
        try:
            return handler(_arguments(arguments), session)
        except SkillLearnerError as error:
            stop = "" if error.message.endswith((".", "!", "?")) else "."
            return f"Error: {error.message}{stop} {error.hint}".strip()

    def _load(self, arguments: Mapping[str, Any], session: str) -> str:
        skill = self._library.get(_text(arguments, "name"))
        if skill.state != "active" or not self._allowed(skill):
            raise LibraryError(f"there is no skill {skill.name!r} in use")
        self._on_use(skill.name)
        return f"# {skill.name}\n{skill.description}\n\n{skill.body}"

    def _find(self, arguments: Mapping[str, Any], session: str) -> str:
        top_k = arguments.get("top_k", 5)
        count = top_k if isinstance(top_k, int) and 1 <= top_k <= 20 else 5
        skills = self._search(_text(arguments, "query"), count)
        lines = [f"- {skill.name}: {skill.description}" for skill in skills]
        return "\n".join(lines) or "No skill matches."

    def _save(self, arguments: Mapping[str, Any], session: str) -> str:
        from skill_learner.learning.injection import findings
        from skill_learner.learning.redaction import Redactor

        draft = CreateSkill(
            name=_text(arguments, "name"),
            description=_text(arguments, "description"),
            body=_text(arguments, "body"),
            evidence=(),
            explicit=True,
            unverified=True,
        )
        text = f"{draft.name}\n{draft.description}\n{draft.body}"
        if len(text) > MOST_CHARACTERS:
            raise LibraryError(f"{len(text)} characters are too many; at most {MOST_CHARACTERS}.")
        if Redactor().findings(text):
            raise LibraryError(
                "the text holds what looks like a secret or personal data; nothing was saved.",
                "Say where the value is kept instead of the value.",
            )
        for known in self._search(draft.description, 3):
            if known.body.strip() == draft.body:
                return f"{known.name} says that already."
        state = "candidate" if findings(text) else self._state()
        skill = self._library.create(
            draft, state=state, scope="user", project_slug="saved", origin="agent", session=session
        )
        self._on_save(skill.name)
        note = "" if skill.state == "active" else " It waits for approval as a candidate."
        return f"Saved as {skill.name}.{note}"


def schemas(shape: Shape = "anthropic") -> list[dict[str, Any]]:
    """The tools as Anthropic or as OpenAI takes them."""
    if shape == "anthropic":
        return [json.loads(json.dumps(tool)) for tool in _TOOLS]
    if shape != "openai":
        raise ValueError(f"shape must be 'anthropic' or 'openai', not {shape!r}")
    return [
        {
            "type": "function",
            "function": {
                "name": tool["name"],
                "description": tool["description"],
                "parameters": json.loads(json.dumps(tool["input_schema"])),
            },
        }
        for tool in _TOOLS
    ]


def named_tools(tools: Any) -> tuple[str, ...]:
    """Which of our tools are among the tools given to an agent, in whatever shape."""
    from skill_learner.conversation.messages import get

    names: list[str] = []
    for tool in tools if isinstance(tools, Sequence) and not isinstance(tools, str) else ():
        name = tool if isinstance(tool, str) else get(tool, "name")
        if not isinstance(name, str):
            name = get(get(tool, "function"), "name") or getattr(tool, "__name__", None)
        if name in TOOL_NAMES and name not in names:
            names.append(name)
    return tuple(names)


def _arguments(arguments: Any) -> Mapping[str, Any]:
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments or "{}")
        except ValueError as error:
            raise LibraryError(f"the arguments are no JSON: {error}.") from error
    if not isinstance(arguments, Mapping):
        raise LibraryError("the arguments must be an object.")
    return arguments


def _text(arguments: Mapping[str, Any], key: str) -> str:
    value = arguments.get(key)
    if not isinstance(value, str) or not value.strip():
        raise LibraryError(f"`{key}` must be a text.")
    return value.strip()
