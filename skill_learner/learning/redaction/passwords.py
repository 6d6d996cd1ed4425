"""Passwords that a word for them gives away, in the languages whose word holds no English one.

`named` knows names and sentences in English, and what begins like it (Passwort, mot de passe).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from skill_learner.learning.redaction.allow_list import character_classes, looks_password
from skill_learner.learning.redaction.finding import Finding, secret

_STEMS = (
    "contrase", "clave", "senha", "hasł", "haslo", "парол", "wachtwoord", "heslo", "lösenord",
    "şifre", "adgangskode", "salasana", "jelszó",
)  # fmt: skip
_WORD = (
    r"contrase[ñn]as?|(?P<loose>claves?)|senhas?|has[łl]o|hasł[aeu]m?|парол(?:ь|я|е|ю|ем|и|ей)"
    r"|wachtwoord|hesl[oa]|lösenord(?:et)?|şifre(?:si|niz|miz)?|adgangskoden?|salasana|jelszó"
)
_COPULA = r"es|era|é|e|são|jest|to|brzmi|является|это|теперь|был|is|je|är|er|on|ez"
_BEFORE = re.compile(
    rf"""(?<!\w)(?:{_WORD})(?!\w)
    (?: ["'`*]{{0,3}}[ \t]{{0,4}}(?P<told>[:=]|[—–-](?=[ ]))
      | [^\n.:=\\]{{0,40}}?(?: (?<!\w)(?:{_COPULA})(?!\w):? | [ ][—–] | : )
    )
    [ \t]{{0,4}} ["'`«„“*]{{0,3}} (?P<value>[^\s"'`\\<>«»„“”]{{6,128}})""",
    re.VERBOSE | re.IGNORECASE,
)


def password_findings(text: str, lowered: str) -> Iterator[Finding]:
    if not any(stem in lowered for stem in _STEMS):
        return
    for match in _BEFORE.finditer(text):
        value = match["value"].rstrip(".,;:!?)*")
        certain = match["told"] and not match["loose"]  # not in a sentence; `clave` is any key
        if character_classes(value) >= (2 if certain else 3) and looks_password(value, 6):
            start = match.start("value")
            yield secret("password", start, start + len(value))
