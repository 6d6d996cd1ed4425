"""What a skill's name, description and folder may be.

`*_faults` give the reasons why something cannot be written by us; `lint_description` and `validate`
say what is odd about a skill that is read all the same.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from typing import Protocol

from skill_learner.models import DESCRIPTION_LIMIT, NAME_LIMIT

NULL_TEXTS = frozenset({"", "~", "null", "Null", "NULL"})
"""Texts that YAML reads as nothing."""

_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_DEVICE = re.compile(
    r"(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(?:\..*)?", re.IGNORECASE
)
_UNSAFE = re.compile(r'[\x00-\x1f\x7f/\\:*?"<>|\ud800-\udfff]')
"""Also what is no UTF-8, which stands in a name as surrogates."""
_SPEC_FIELDS = frozenset(
    {"name", "description", "license", "allowed-tools", "metadata", "compatibility"}
)
_WHEN = re.compile(r"\b(use|when|if|before|after|while|for|whenever|on)\b", re.IGNORECASE)
_PLACEHOLDER = re.compile(r"\bTODO\b|\{\{|^replace with\b", re.IGNORECASE)


class ReadSkill(Protocol):
    """The part of a parsed skill that validation looks at."""

    @property
    def name(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def fields(self) -> Mapping[str, object]: ...


def name_faults(name: str) -> list[str]:
    """Why `name` cannot be the name of a skill that we write; empty when it can."""
    return [*_name_faults(name)]


@lru_cache(maxsize=256)  # a name is asked about several times; of many skills, step by step
def _name_faults(name: str) -> tuple[str, ...]:
    faults = []
    if _NAME.fullmatch(name) is None:
        faults.append(
            f"name {name!r} must be ASCII lower-case letters and digits joined by single hyphens"
        )
    if len(name) > NAME_LIMIT:
        faults.append(f"name has {len(name)} characters, at most {NAME_LIMIT} are allowed")
    if _DEVICE.fullmatch(name) or name in NULL_TEXTS:
        faults.append(f"name {name!r} means something else to Windows or to YAML")
    return tuple(faults)


def description_faults(description: str) -> list[str]:
    """Why a description breaks the specification; empty when it does not."""
    if description.strip() in NULL_TEXTS:
        return ["the description is empty"]
    if len(description) > DESCRIPTION_LIMIT:
        return [
            f"the description has {len(description)} characters, "
            f"at most {DESCRIPTION_LIMIT} are allowed"
        ]
    return []


def folder_faults(name: str) -> list[str]:
    """Why a string is not the name of one folder inside the library, on any system."""
    if not name or name in {".", ".."} or name.startswith("."):
        return [f"{name!r} is not the name of a skill"]
    if _UNSAFE.search(name) or name != name.rstrip(". "):
        return [f"{name!r} holds characters that a skill's folder cannot have"]
    if _DEVICE.fullmatch(name):
        return [f"{name!r} is a device name on Windows"]
    if len(name.encode("utf-8", "surrogatepass")) > 200:
        return [f"{name[:40]!r}... is too long for a folder"]
    return []


def slugify_name(text: str) -> str:
    """A valid name made from any text. Letters that ASCII cannot express are lost; when any are, or
    when the result had to be cut, a short hash of the text keeps different texts apart."""
    decomposed = unicodedata.normalize("NFKD", text)
    lost = any(ord(c) > 127 and unicodedata.category(c)[0] in "LN" for c in decomposed)
    slug = "".join(c for c in decomposed if not unicodedata.combining(c)).lower()
    slug = re.sub(r"['`’]", "", slug)
    slug = re.sub(r"[^a-z0-9]+", "-", slug, flags=re.ASCII).strip("-")
    if not lost and not name_faults(slug):
        return slug
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{shorten(slug or 'skill', NAME_LIMIT - 9)}-{digest}"


def shorten(name: str, limit: int) -> str:
    """`name` cut to `limit` characters, at a hyphen where one is near the end."""
    if len(name) <= limit:
        return name
    cut = name[:limit]
    head, _, tail = cut.rpartition("-")
    return (head if head and len(tail) < 16 else cut).strip("-")


def lint_description(description: str) -> list[str]:
    """Advice on a description, each with its reason; nothing here keeps a skill from being used."""
    advice = []
    if description and description.isascii() and not _WHEN.search(description[:200]):
        advice.append("does not say when to use the skill: begin with `Use when ...`")
    if 0 < len(description.split()) < 5 and description.isascii():
        advice.append("too short to match a task: name the symptom in the user's words")
    if _PLACEHOLDER.search(description):
        advice.append("looks like a template that was never filled in")
    if len(description) > DESCRIPTION_LIMIT:
        advice.append(f"longer than {DESCRIPTION_LIMIT} characters: editors cut it")
    if "<" in description and ">" in description:
        advice.append("holds angle brackets, which some editors read as markup")
    return advice


def validate(skill: ReadSkill, folder: str) -> list[str]:
    """What a reader of this skill should know: departures from the specification and advice."""
    notes = []
    if skill.name:
        notes += name_faults(skill.name)
        if skill.name != folder:
            notes.append(
                f"name {skill.name!r} differs from its folder {folder!r}; the folder counts"
            )
        if re.search(r"claude|anthropic", skill.name, re.IGNORECASE):
            notes.append("the name holds a word that the vendor's upload reserves")
    extra = sorted(set(skill.fields) - _SPEC_FIELDS)
    if extra:
        notes.append("keys outside the specification: " + ", ".join(extra))
    compatibility = skill.fields.get("compatibility", "")
    if not isinstance(compatibility, str):
        notes.append("compatibility is not a text")
    elif len(compatibility) > 500:
        notes.append(f"compatibility has {len(compatibility)} characters, at most 500 are allowed")
    return notes + [f"description: {reason}" for reason in lint_description(skill.description)]
