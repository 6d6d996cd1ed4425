"""What looks like a secret and is none: each line was seen as a false alarm on real sessions."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

# -- long encoded fields that are no secrets and would only cost time ----------------------------

_ENCODED = re.compile(
    r"""
    data:[\w/+.-]{3,80};base64,[A-Za-z0-9+/=]+                       # pictures in text
    | (?:signature|thinkingSignature|thoughtSignature|encrypted_content|data)
      \\{0,3}"\s{0,2}:\s{0,2}\\{0,3}"[A-Za-z0-9+/=_-]{100,}          # of a model, or a picture
    """,
    re.VERBOSE,
)
_ENCODED_HINTS = (";base64,", "ignature", "encrypted_content", 'data"', 'data\\"')


def without_encoded_fields(text: str) -> str:
    """`text`, same length, with signatures and encoded pictures blanked."""
    if not any(hint in text for hint in _ENCODED_HINTS):
        return text
    return _ENCODED.sub(lambda match: " " * len(match.group()), text)


# -- names ---------------------------------------------------------------------------------------

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SEPARATORS = re.compile(r"[^a-z0-9]+")
_NEUTRAL_END = re.compile(
    r"_(?:data|value|val|base64|b64|raw|plain|prod|production|dev|live|test|staging|new|old|current"
    r"|base|default|str|text|env|\d{1,3})$"
)
_PASSWORD = re.compile(
    r"(?:^|_)(?:\w*(?:password|passwd|passphrase|passcode)|\w*pwd|(?:\w+_)?pass|\w{2,8}pass|pw)$"
)
_NOT_PASSWORD = re.compile(
    r"(?:bypass|compass|trespass|encompass|surpass|(?:^|_)by_?pass|overpass)$"
)
_KEY_OF = (
    r"api|access|account|secret|private|encryption|encrypt|signing|sign|master|storage|app"
    r"|application|auth|client|service|shared|webhook|sas|session|license|licence|admin|deploy"
    r"|user|hmac|aes|rsa|ssh|jwt|crypto|integration|subscription|primary_access|write|ingest"
)
_SECRET = re.compile(
    rf"(?:^|_)(?:\w*secret|secrets?_key|\w*(?<!public_)(?:{_KEY_OF})_?key|\w*apikey|\w*token"
    r"|\w*credentials?|authorization|auth|private_?key|\w*encryption_?key|secret_key_base"
    r"|account_?key|client_key|jwk|dsn|connection_string)$"
)
_UNCERTAIN_NAMES = frozenset({"token", "auth", "authorization", "credential", "credentials", "dsn"})
_PUBLIC_NAME = re.compile(
    r"(?:^|_)(?:public|foreign|author|publishable|anonymous|csrf_field|tokenizer"
    r"|(?:next|prev|previous|page|continuation|sync|cancel|cancellation|idempotency|request|correlation|trace|stop|eos|bos|pad|unk|mask"
    r"|sep|cls|special|design|first|last|max|min|num|per|start|end|by|total|prompt|completion"
    r"|input|output|each|syntax|lexer|comment|string|operator|keyword|invalid|missing|no)_token"
    r"|no_pass|all_pass|single_pass|first_pass|second_pass|one_pass|two_pass|multi_pass|render_pass"
    r"|(?:no|invalid|missing|wrong|bad|forgot|forgotten|reset|show|hide|toggle)_(?:password|secret))$"
)


def normalised_name(name: str) -> str:
    """`X-Api-Key`, `apiKey` and `API_KEY` become `api_key`-like lower-case words."""
    words = _SEPARATORS.sub("_", _CAMEL.sub("_", name).lower()).strip("_")
    while (shorter := _NEUTRAL_END.sub("", words)) != words and shorter:
        words = shorter
    return words


def is_password_name(words: str) -> bool:
    """`words` (normalised) names a password."""
    if _PUBLIC_NAME.search(words) or _NOT_PASSWORD.search(words):
        return False
    return _PASSWORD.search(words) is not None


def is_secret_name(words: str) -> bool:
    """`words` (normalised) names a key, token or other secret that is no password."""
    return _PUBLIC_NAME.search(words) is None and _SECRET.search(words) is not None


def is_unmistakable_name(words: str) -> bool:
    """Under this name even a UUID or a plain hash is a secret."""
    return words not in _UNCERTAIN_NAMES


# -- values --------------------------------------------------------------------------------------

_IDENTIFIERS = re.compile(
    r"(?:msg|toolu|srvtoolu|call|req|resp|run|thread|asst|file|batch|org|proj|user)_[A-Za-z0-9]{8,}"
    r"|[a-z]{2,12}_01[A-Za-z0-9]{20,26}"
    r"|chatcmpl-\w+|sha(?:1|256|384|512)[-:][A-Za-z0-9+/=]+|0x[0-9a-fA-F]{40}|0x[0-9a-fA-F]{1,16}"
)
_HASHES = re.compile(
    r"[0-9a-fA-F]{7,40}|[0-9a-fA-F]{64}"
    r"|[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"
)
_NUMBERS = re.compile(
    r"v?[\d.,:+/_-]+(?:[TZ%]|[kKmMgG][bB]?|ms|s|px|em)?[\d.:+-]*Z?(?:-?(?:alpha|beta|rc)\.?\d*)?"
)
_WORDS = re.compile(
    r"[._#]*[A-Za-z]+(?:[_.:/+#-]+[A-Za-z]+)*[_.:!?*/-]*"  # code names, prose
)
_NUMBERED_WORDS = re.compile(
    r"(?:[A-Za-z]{2,}|v)\d{0,2}(?:[_.:/-](?:[A-Za-z]{2,}\d{0,2}|[a-z]|v?\d{1,4}))+"  # gpt-4o-mini
)
_REFERENCE = re.compile(
    r"\$[A-Za-z_{(]|%[A-Za-z_]+[%{]|[{(\[<@&|~^§]|\*|[A-Z_]{2,40}=|!(?:Ref|Sub|GetAtt|env|vault|secret)\b"
    r"|\.{0,2}/|[A-Za-z]:[\\/]|[a-z][a-z0-9+.-]{1,20}://|--[a-z]{2,}(?:-[a-z]+)*(?:[= ]|$)"
)
_EXPRESSION = re.compile(
    r"(?:process\.env|os\.environ|os\.getenv|import\.meta|env|secrets?|vars?|config|settings|self"
    r"|this|ctx|context|req|request|res|args?|params?|options?|opts|data|props|state|var|local"
    r"|credentials?|creds|keyring|vault|ENV|System)\??[.\[(:]"
)
_FILE = re.compile(
    r"[\w./\\~-]+\.(?:py|js|ts|tsx|go|rs|pem|key|crt|json|ya?ml|toml|txt|md|env|sh|cfg|ini|p12|pfx|jks)"
)
_CALL = re.compile(r"[A-Za-z_][\w.]{2,80}\([^()]{0,200}\)")
_TEST_NAME = re.compile(r"Test[A-Z]\w*|test_\w+")
_HOLDS_PLACEHOLDER = re.compile(
    r"""(?ix)
      (?: example | sample | dummy | placeholder | changeme | change[_-]me | replace | redacted
           | your[_-]? | xxxx | \*\*\* | \.\.\. | … | insert | todo | fixme | 1234567 | abcdef
           | abc123 | foobar | foo[_-]?bar | deadbeef | fake | mock | not[_-]?(?:a[_-]?)?real
           | here$ | <[^>]*> | \[:?\w+\] | \{\w*\} | \$\{?[A-Z_]{3} | lorem | goes[_-]?here
           | super[_-]?secret )
    """
)
_PLACEHOLDER_WORD = re.compile(
    r"example|sample|dummy|placeholder|change[_-]?me|replace|insert|todo|fixme|1234567|abcdef|abc123"
    r"|foo[_-]?bar|deadbeef|fake|mock|lorem|super[_-]?secret|xxxx+",
    re.I,
)
_MADE_UP = re.compile(
    r"example|placeholder|redacted|x{6}|0{8}|1234567890|abcdefgh|your[_-]|dummy[_-]|[_-]here$", re.I
)
_BASE64 = re.compile(r"[A-Za-z0-9+/]{30,2000}={0,2}")
_PLACEHOLDER = re.compile(
    r"""(?ix)
      (?: my | the | a | some | test | testing | new | old | strong | secure | db | admin | root
        | user | correct | wrong | invalid | bad | good | valid | dev | local | prod | plain
        | hashed | raw | super | long | random | very | initial | temp | temporary | default
        | ) [_-]?
      (?: my | the | secure | strong | test | user | db | admin | secret | access | auth | api | jwt
        | client | private | session | refresh | bearer | ) [_-]?
      (?: pass(?:word|wd|phrase|w0rd)? | p[a@][s$][s$]w[o0]rd | pwd | secret | token | key | value
        | string | creds? | hunter )
      [_-]? (?: key | token | value | string | hash | here | id | ) [_-]? \d{0,6} [!@\#$%*?.]{0,2}
    | (?: postgres(?:ql)? | mysql | root | admin | guest | minio(?:admin)? | test | user | pass
        | none | null | nil | true | false | undefined | string | str | optional | required | any
        | bytes | int | number | boolean | empty | unset | hidden | secret | rabbitmq | redis
        | mongo | (?: admin | test | user | demo | login | welcome | qwerty ) [@_-]?\d{1,4}!? )
    | (.)\1+
    """
)


def _is_encoded(value: str) -> bool:
    return value.endswith("=") or "+" in value or is_scrambled(value)


def holds_placeholder(value: str) -> bool:
    """A token of a known shape that documentation made up."""
    return _MADE_UP.search(value) is not None


def is_placeholder(value: str) -> bool:
    """A stand-in that documentation or code uses, or a reference to a value kept elsewhere."""
    if value.startswith("/") and _BASE64.fullmatch(value) and _is_encoded(value):
        return False
    return (
        (len(value) <= 48 and _HOLDS_PLACEHOLDER.search(value) is not None)
        or _PLACEHOLDER.fullmatch(value) is not None
        or _REFERENCE.match(value) is not None
        or _EXPRESSION.match(value) is not None
    )


def is_identifier(value: str) -> bool:
    """An id of the editor's or provider's that opens no door (`msg_…`, `toolu_…`, `sha256-…`)."""
    return _IDENTIFIERS.fullmatch(value) is not None


def is_hash(value: str) -> bool:
    """A UUID, a commit, a digest: a secret only under an unmistakable name."""
    return _HASHES.fullmatch(value) is not None


def is_plain(value: str) -> bool:
    """Words, code names, paths, numbers, versions, dates: nothing that was made to be secret."""
    if _WORDS.fullmatch(value):
        return not is_scrambled(value)
    return any(
        shape.fullmatch(value) is not None
        for shape in (_NUMBERED_WORDS, _NUMBERS, _FILE, _CALL, _TEST_NAME)
    )


def is_scrambled(value: str) -> bool:
    """Letters whose case changes all the time are drawn by lot, not written."""
    letters = [character for character in value if character.isalpha()]
    if len(letters) < 16:
        return False
    capitals = sum(character.isupper() for character in letters)
    changes = sum(a.isupper() != b.isupper() for a, b in pairwise(letters))
    return 3 * changes > len(letters) and 0.3 < capitals / len(letters) < 0.7


def character_classes(value: str) -> int:
    """How many of lower case, upper case, digits, and others `value` holds."""
    return sum(
        (
            any(character.islower() for character in value),
            any(character.isupper() for character in value),
            any(character.isdigit() for character in value),
            any(not character.isalnum() for character in value),
        )
    )


def looks_password(value: str, minimum: int) -> bool:
    """The same of a password: people build theirs around such words as `changeme`, and what stands
    beside the word may be drawn by lot."""
    if looks_secret(value, minimum):
        return True
    rest = _PLACEHOLDER_WORD.sub("", value)
    return rest != value and character_classes(rest) >= 3 and looks_secret(rest, 5)


@lru_cache(maxsize=4_096)
def looks_secret(value: str, minimum: int) -> bool:
    """`value` may well be a secret once its name says so."""
    return (
        len(value) >= minimum
        and not any(character.isspace() for character in value)
        and character_classes(value) >= 2
        and not is_placeholder(value)
        and not is_identifier(value)
        and not is_plain(value)
    )
