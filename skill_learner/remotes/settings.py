"""What the setting `remotes:` says, checked.

remotes:
  team:
    url: git+ssh://git@example.org/skills.git
    direction: both            # pull, push
    trust: reviewed            # all, none
    scope: [user, shop]        # default: all
    tags: [deploy]             # default: any
    states: [active]           # what leaves this machine
    every: 900                 # seconds between syncs in the background, 0 = by hand only
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import parse_qsl, unquote, urlsplit

from skill_learner.characters import SURROGATE
from skill_learner.errors import ConfigError
from skill_learner.files import ON_WINDOWS

DIRECTIONS = ("both", "pull", "push")
TRUSTS = ("all", "reviewed", "none")
STATES = ("active", "candidate")
DEFAULT_EVERY = 900
POSTGRES_SCHEMES = ("postgresql", "postgres")

_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_BRANCH = re.compile(r"(?![-/.])(?!.*(?:\.\.|//|@\{|\.lock$|/$))[A-Za-z0-9._/-]{1,200}")
_SECRET_KEY = re.compile(r"passw|pwd|token|secret|credential", re.IGNORECASE)
_OTHER_SECRETS = re.compile(
    r"^[^/@:]+:[^/@]+@[^/:]+:"  # user:password@host:path, which git reads as something else
    r"|^[^:]*\bpassword\s*=",  # libpq's other form, "host=… password=…"
    re.IGNORECASE,
)
_WEB_SCHEMES = ("http", "https", "git+https", "git+http")
_NAME_PARTS = re.compile(r"[A-Za-z0-9]+")
_HELPER_FORM = re.compile(r"[A-Za-z0-9+.-]*::")
_FILE_OF_A_HOST = re.compile(r"(?:git\+)?file://(?!/|localhost/)")
_POSTGRES = re.compile(r"(postgres(?:ql)?)(\+[^:/]*)?://", re.IGNORECASE)
_POSTGRES_SECRET = re.compile(
    r"[^/@]*:[^/@]+@"  # libpq reads on to the `@`, over `#` and `?`
    r"|(?!\[)[^/@]*:(?!\d*(?:[/?,@]|$))[^@]*@"  # what follows the colon is no port
)
_LIBRARY = re.compile(r"[A-Za-z0-9._-]{1,64}")
_LISTS: Mapping[str, tuple[str, ...]] = {"scope": (), "tags": (), "states": STATES, "pin": ()}
_CHOICES: Mapping[str, tuple[str, ...]] = {"direction": DIRECTIONS, "trust": TRUSTS}


@dataclass(frozen=True)
class RemoteSettings:
    """One remote. scope: "user" and names of project folders, empty for all. tags: of which one
    must stand in a skill's `metadata.tags`, empty for any. pin: skills that no sync changes here.
    branch: git only. library: PostgreSQL only, since one database may hold several."""

    name: str
    url: str
    direction: str = "both"
    trust: str = "reviewed"
    scope: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    states: tuple[str, ...] = ("active",)
    pin: tuple[str, ...] = ()
    every: int = DEFAULT_EVERY
    branch: str = "main"
    library: str = "default"

    @property
    def engine(self) -> str:
        return "postgres" if self.url.split(":", 1)[0] in POSTGRES_SCHEMES else "git"

    @property
    def pulls(self) -> bool:
        return self.direction != "push"

    @property
    def pushes(self) -> bool:
        return self.direction != "pull"


def remote_settings(remotes: Mapping[str, Any], source: str = "remotes") -> list[RemoteSettings]:
    """All remotes by name; ConfigError names remote and key of the first fault."""
    return [_one(str(name), remotes[name], source) for name in sorted(remotes, key=str)]


def _one(name: str, given: Any, source: str) -> RemoteSettings:
    where = f"{source}: {name}"
    if _NAME.fullmatch(name) is None or len(name) > 40:
        raise ConfigError(
            f"{where}: a remote's name is lower-case letters, digits and single hyphens"
        )
    if isinstance(given, str):
        given = {"url": given}
    if not isinstance(given, Mapping) or not isinstance(given.get("url"), str):
        raise ConfigError(f"{where}: expected a `url`", f"write `{name}: {{url: ...}}`")
    values = {str(key): _value(str(key), given[key], where) for key in given}
    values["url"] = checked_url(values["url"], where)
    return RemoteSettings(name=name, **values)


def _value(key: str, value: Any, where: str) -> Any:
    known = RemoteSettings.__dataclass_fields__
    if key not in known or key == "name":
        names = ", ".join(field for field in known if field != "name")
        raise ConfigError(f"{where}: unknown key `{key}`", f"known keys: {names}")
    if key in _LISTS:
        return _words(key, value, where)
    if key == "every":
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= 10**7:
            raise ConfigError(f"{where}: every must be a whole number of seconds, not {value!r}")
        return value
    if key == "url":
        return value
    if not isinstance(value, str):
        raise ConfigError(f"{where}: {key} must be text, not {value!r}")
    if key in _CHOICES and value not in _CHOICES[key]:
        raise ConfigError(f"{where}: {key} must be one of {', '.join(_CHOICES[key])}")
    pattern = {"branch": _BRANCH, "library": _LIBRARY}.get(key)
    if pattern is not None and pattern.fullmatch(value) is None:
        raise ConfigError(f"{where}: {key} {value!r} is not allowed")
    return value


def _words(key: str, value: Any, where: str) -> tuple[str, ...]:
    words = value.split() if isinstance(value, str) else value
    if not isinstance(words, list | tuple) or not all(isinstance(word, str) for word in words):
        raise ConfigError(f"{where}: {key} must be a list of words, not {value!r}")
    allowed = _LISTS[key]
    if allowed and not set(words) <= set(allowed):
        raise ConfigError(f"{where}: {key} may hold {', '.join(allowed)}")
    return tuple(
        "" if key == "scope" and word == "all" else word for word in words if word != "all"
    )


def checked_url(url: str, where: str) -> str:
    """The address of a remote; ConfigError for one that holds a password or token (which would be
    shown with the settings), or that git would take for an option or a program to run, or for
    another folder than the one meant. The message never repeats the address."""
    url = url.strip()
    if not url or url.startswith("-") or any(ord(c) < 32 for c in url) or SURROGATE.search(url):
        raise ConfigError(
            f"{where}: that is no address of a remote", "it must be one line of UTF-8 text"
        )
    try:
        parts = urlsplit(url)
        password = parts.password
    except ValueError:
        raise ConfigError(f"{where}: that is no address of a remote") from None
    if postgres := _POSTGRES.match(url):
        return _checked_postgres(url, postgres, where)
    asked = any(_SECRET_KEY.search(key) for key, _ in parse_qsl(parts.query))
    if password or asked or _OTHER_SECRETS.search(url):
        raise _holds_a_password(where)
    if parts.scheme in _WEB_SCHEMES and parts.username and _is_token(unquote(parts.username)):
        raise ConfigError(
            f"{where}: what stands in the address as user name looks like a token",
            "write your user name there or nothing, and give the token to a credential helper",
        )
    if _HELPER_FORM.match(url):
        raise ConfigError(f"{where}: git's `helper::address` forms run programs; not allowed")
    if _FILE_OF_A_HOST.match(url) and not ON_WINDOWS:  # git would leave out the host
        raise ConfigError(
            f"{where}: `file://` names a folder from the root on, on this machine",
            "write `file:///folder/repository.git`, or the path alone",
        )
    return url


def _is_token(name: str) -> bool:
    """Whether a user name is of a known form of tokens, or has a part that was drawn by lot."""
    from skill_learner.learning.redaction.allow_list import is_hash, looks_secret
    from skill_learner.learning.redaction.formats import token_findings

    if any(token_findings(name)):
        return True
    return any(is_hash(part) or looks_secret(part, 16) for part in _NAME_PARTS.findall(name))


def _checked_postgres(url: str, start: re.Match[str], where: str) -> str:
    """As libpq reads an address: it knows the scheme in small letters only, and no fragments."""
    if start[2]:
        told = f"write `{start[1].lower()}://` in place of `{start[0]}`"
        raise ConfigError(f"{where}: that is no address of a remote", told)
    rest = url[start.end() :]
    asked = parse_qsl(rest.partition("?")[2])
    if _POSTGRES_SECRET.match(rest) or any(_SECRET_KEY.search(key) for key, _ in asked):
        raise _holds_a_password(where)
    return f"{start[1].lower()}://{rest}"


def _holds_a_password(where: str) -> ConfigError:
    return ConfigError(
        f"{where}: the address holds a password",
        "use ~/.pgpass, PGPASSWORD or PGSERVICE for PostgreSQL, a credential helper for git",
    )


def settings_of(remotes: Mapping[str, Any], name: str) -> RemoteSettings:
    """One remote by name; ConfigError with the known ones."""
    for settings in remote_settings(remotes):
        if settings.name == name:
            return settings
    known = ", ".join(sorted(map(str, remotes))) or "none yet: `skill-learner remote add NAME URL`"
    raise ConfigError(f"there is no remote {name!r}", f"known remotes: {known}")


def as_mapping(settings: RemoteSettings) -> dict[str, Any]:
    """What stands in the settings file for it: the address, and what is not the default."""
    plain = RemoteSettings("x", "")
    found: dict[str, Any] = {"url": settings.url}
    for key in RemoteSettings.__dataclass_fields__:
        value = getattr(settings, key)
        if key not in ("name", "url") and value != getattr(plain, key):
            found[key] = list(cast(tuple[str, ...], value)) if isinstance(value, tuple) else value
    return found
