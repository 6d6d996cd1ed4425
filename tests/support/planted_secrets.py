"""Plants secrets that are drawn by lot in texts as a session holds them. Nothing here is a secret:
values come from a seed at run time, and prefixes are put together from pieces so that no scanner
takes this file for a leak."""

from __future__ import annotations

import base64
import json
import random
import string
from collections.abc import Callable, Iterator
from dataclasses import dataclass

ALNUM = string.ascii_letters + string.digits
URL_SAFE = ALNUM + "-_"
BASE64 = ALNUM + "+/"
HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + string.digits


@dataclass(frozen=True)
class Planted:
    """One text with secrets in it. group: format, named, url, key, or long tail."""

    shape: str
    group: str
    context: str
    text: str
    secrets: tuple[str, ...]


class Lot:
    """Draws values."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def text(self, length: int, alphabet: str = ALNUM) -> str:
        return "".join(self._random.choice(alphabet) for _ in range(length))

    def mixed(self, length: int, alphabet: str = ALNUM) -> str:
        """With a digit, a capital and a small letter for sure."""
        value = self.text(length - 3, alphabet)
        return value + self.text(1, string.digits) + self.text(1, string.ascii_uppercase) + "q"

    def password(self, length: int = 14) -> str:
        middle = self._random.choice("!%*.^+")
        return self.mixed(length - 4) + middle + self.text(3, ALNUM)

    def uuid(self) -> str:
        return "-".join(self.text(n, HEX) for n in (8, 4, 4, 4, 12))

    def basic(self) -> str:
        return base64.b64encode(f"svc:{self.password()}".encode()).decode()

    def jwt(self) -> str:
        def part(data: dict[str, str]) -> str:
            raw = json.dumps(data, separators=(",", ":")).encode()
            return base64.urlsafe_b64encode(raw).decode().rstrip("=")

        head, body = part({"alg": "RS256", "typ": "JWT"}), part({"sub": self.text(12)})
        return f"{head}.{body}.{self.text(64, URL_SAFE)}"

    def key_lines(self, lines: int = 7) -> list[str]:
        return [self.text(64, BASE64) for _ in range(lines - 1)] + [self.text(31, BASE64) + "="]


# -- shapes --------------------------------------------------------------------------------------

FORMATS: dict[str, Callable[[Lot], str]] = {
    "aws id": lambda lot: "AK" + "IA" + lot.text(16, UPPER),
    "aws temporary id": lambda lot: "AS" + "IA" + lot.text(16, UPPER),
    "github classic": lambda lot: "gh" + "p_" + lot.text(36),
    "github server": lambda lot: "gh" + "s_" + lot.text(36),
    "github fine": lambda lot: "github_" + "pat_" + lot.text(22) + "_" + lot.text(59),
    "gitlab": lambda lot: "gl" + "pat-" + lot.text(20, URL_SAFE),
    "slack bot": lambda lot: "xox" + "b-" + lot.text(12, string.digits) + "-" + lot.text(24),
    "stripe": lambda lot: "sk_" + "live_" + lot.text(24),
    "stripe webhook": lambda lot: "wh" + "sec_" + lot.text(32),
    "google api": lambda lot: "AI" + "za" + lot.text(35, URL_SAFE),
    "google client": lambda lot: "GOC" + "SPX-" + lot.text(28, URL_SAFE),
    "google access": lambda lot: "ya" + "29." + lot.mixed(120, URL_SAFE),
    "openai project": lambda lot: "sk-" + "proj-" + lot.mixed(100, URL_SAFE),
    "anthropic": lambda lot: "sk-" + "ant-api03-" + lot.mixed(93, URL_SAFE),
    "anthropic login": lambda lot: "sk-" + "ant-oat01-" + lot.mixed(93, URL_SAFE),
    "hugging face": lambda lot: "hf" + "_" + lot.text(34, string.ascii_letters),
    "groq": lambda lot: "gs" + "k_" + lot.text(52),
    "npm": lambda lot: "np" + "m_" + lot.text(36),
    "pypi": lambda lot: "pypi-" + "AgEIcHlwaS5vcmc" + lot.text(120, URL_SAFE),
    "docker": lambda lot: "dckr" + "_pat_" + lot.text(27, URL_SAFE),
    "digital ocean": lambda lot: "dop" + "_v1_" + lot.text(64, HEX),
    "sendgrid": lambda lot: "SG" + "." + lot.text(22, URL_SAFE) + "." + lot.text(43, URL_SAFE),
    "mailchimp": lambda lot: lot.text(32, HEX) + "-us" + lot.text(1, "123456789"),
    "telegram": lambda lot: lot.text(10, string.digits) + ":A" + "A" + lot.text(33, URL_SAFE),
    "databricks": lambda lot: "dap" + "i" + lot.text(32, HEX),
    "shopify": lambda lot: "shp" + "at_" + lot.text(32, HEX),
    "linear": lambda lot: "lin" + "_api_" + lot.text(40),
    "notion": lambda lot: "nt" + "n_" + lot.text(46),
    "grafana": lambda lot: "gl" + "sa_" + lot.text(32) + "_" + lot.text(8, HEX),
    "vault": lambda lot: "hv" + "s." + lot.text(90, URL_SAFE),
    "terraform": lambda lot: lot.text(14) + ".atlas" + "v1." + lot.text(67, URL_SAFE),
    "jwt": Lot.jwt,
    "age": lambda lot: "AGE-SECRET" + "-KEY-1" + lot.text(58, UPPER),
    "tailscale": lambda lot: "ts" + "key-auth-" + lot.text(12) + "-" + lot.text(32),
    "postman": lambda lot: "PM" + "AK-" + lot.text(24, HEX) + "-" + lot.text(34, HEX),
    "bcrypt": lambda lot: "$2" + "b$12$" + lot.text(53, ALNUM + "./"),
}

_P, _T = Lot.password, Lot.mixed

NAMED: dict[str, tuple[Callable[[Lot], str], tuple[str, ...]]] = {
    "password": (
        _P,
        (
            "export DB_PASSWORD='{v}'",
            "DB_PASSWORD={v}",
            "spring.datasource.password={v}",
            "  password: {v}",
            '{{"user": "app", "password": "{v}"}}',
            "connect(host='db', passwd='{v}')",
            "mysqldump --user=root --password={v} app",
            "tool --password {v} --verbose",
            "mysql -u root -p{v} app",
            "curl -u deploy:{v} https://nexus.internal/x",
            "PGPASSWORD={v} psql -h db",
            "sshpass -p '{v}' ssh root@10.0.0.5",
            "docker login -u ci -p {v} registry.internal",
            "machine git.internal login deploy password {v}",
            "db.internal:5432:app:app_rw:{v}",
            "Server=db;User ID=app;Password={v};Encrypt=True;",
            "web1 ansible_user=root ansible_ssh_pass={v}",
            "the admin password is {v} for now",
            "das Passwort ist {v}, bitte merken",
            "le mot de passe est {v} pour le moment",
            "ALTER USER app IDENTIFIED BY '{v}';",
            "<password>{v}</password>",
            "- name: DB_PASSWORD\n  value: {v}",
            "redis-cli -a {v} ping",
            'Environment="APP_PASSWORD={v}"',
            '$env:DB_PASSWORD = "{v}"',
            "kubectl create secret generic x --from-literal=password={v}",
            "npm config set //npm.internal/:_password {v}",
        ),
    ),
    "opaque token": (
        lambda lot: lot.mixed(40, URL_SAFE),
        (
            "CLOUDFLARE_API_TOKEN={v}",
            "api_key: {v}",
            'apiKey = "{v}"',
            "curl -H 'Authorization: Bearer {v}' https://api.internal",
            "> Authorization: token {v}",
            "curl -H 'X-Api-Key: {v}' https://api.internal",
            "< PRIVATE-TOKEN: {v}",
            "tool --token={v}",
            "tool --api-key {v}",
            "https://api.internal/v1?access_token={v}&page=2",
            "> Cookie: theme=dark; sessionid={v}",
            "< Set-Cookie: auth_token={v}; Path=/; HttpOnly",
            "curl -b 'sid={v}' https://app.internal",
            "//npm.internal/:_authToken={v}",
            "users:\n- name: dev\n  user:\n    token: {v}",
            '{{"client_id": "web", "client_secret": "{v}"}}',
            "os.environ['SERVICE_TOKEN'] = '{v}'",
            '<add key="x"/><apiKey>{v}</apiKey>',
            "gh secret set DEPLOY --body x; SECRET_KEY={v}",
        ),
    ),
    "hex key": (
        lambda lot: lot.text(40, HEX[:6]) + lot.text(24, HEX),
        ("DD_API_KEY={v}", "export SECRET_KEY={v}", "curl -H 'X-Auth-Key: {v}' https://x.internal"),
    ),
    "uuid key": (Lot.uuid, ("HEROKU_API_KEY={v}", "//npm.internal/:_authToken={v}")),
    "base64 key": (
        lambda lot: lot.text(40, BASE64) + "1aB=",
        (
            "AccountName=dev;Account" + "Key={v};EndpointSuffix=core.windows.net",
            "AWS_SECRET_ACCESS_KEY={v}",
            "aws configure set aws_secret_access_key {v}",
            "PrivateKey = {v}",
            "    client-key-data: {v}",
        ),
    ),
    "basic": (
        Lot.basic,
        ("Authorization: Basic {v}", '{{"auths": {{"registry.internal": {{"auth": "{v}"}}}}}}'),
    ),
    "jwk": (
        lambda lot: lot.text(43, URL_SAFE),
        ('{{"kty":"EC","crv":"P-256","x":"abc","d":"{v}"}}',),
    ),
}

URLS = (
    "https://app:{v}@git.internal/x.git",
    "postgresql+asyncpg://app:{v}@db:5432/app",
    "mongodb+srv://app:{v}@c0.mongodb.net/app",
    "redis://:{v}@cache:6379/0",
    "amqp://app:{v}@mq:5672/v",
    "origin\thttps://oauth2:{v}@git.internal/a/b.git (fetch)",
)

KEY_KINDS = ("RSA PRI" + "VATE KEY", "PRI" + "VATE KEY", "OPENSSH PRI" + "VATE KEY")

LONG_TAIL: dict[str, Callable[[Lot], str]] = {
    "provider token": lambda lot: "acme" + "_live_" + lot.text(40),
    "provider key": lambda lot: "zq" + "k-" + lot.text(48),
    "hex": lambda lot: lot.text(32, HEX),
    "dotted": lambda lot: lot.text(24) + "." + lot.text(43, URL_SAFE),
    "account key": lambda lot: "1/" + lot.text(16, string.digits) + ":" + lot.text(32, HEX),
    "environment uuid": lambda lot: "access-production-" + lot.uuid(),
    "prefixed hex": lambda lot: "u+" + lot.text(20, HEX),
    "capitals": lambda lot: "QX" + lot.text(30, UPPER),
    "prefect": lambda lot: "pn" + "u_" + lot.text(36, string.ascii_lowercase + string.digits),
    "readme.io": lambda lot: "rd" + "me_" + lot.text(70, string.ascii_lowercase + string.digits),
    "easypost": lambda lot: "EZ" + "AK" + lot.text(54),
    "duffel": lambda lot: "duffel" + "_test_" + lot.text(43),
    "adafruit": lambda lot: "ai" + "o_" + lot.text(28),
    "sourcegraph": lambda lot: "sg" + "p_" + lot.text(40, HEX),
    "shippo": lambda lot: "shippo" + "_live_" + lot.text(40, HEX),
    "typeform": lambda lot: "tf" + "p_" + lot.text(59, string.ascii_lowercase + string.digits),
}
"""Shapes that no rule of ours lists: made up or bare, and then of real providers."""


# -- planting ------------------------------------------------------------------------------------


def _contexts(line: str, lot: Lot) -> Iterator[tuple[str, str]]:
    yield "shell", f"$ make check\nMakefile  src\n{line}\nok (exit 0)\n"
    yield "config", f"name: demo\nreplicas: 2\n{line}\nlog_level: info\n"
    result = {
        "type": "tool_result",
        "tool_use_id": "toolu_" + lot.text(22),
        "content": line + "\nDEBUG=1",
    }
    yield "json", json.dumps({"uuid": lot.uuid(), "message": {"content": [result]}})


def _cases(
    shape: str, group: str, line: str, secrets: tuple[str, ...], lot: Lot
) -> Iterator[Planted]:
    for context, text in _contexts(line, lot):
        yield Planted(shape, group, context, text, secrets)


def plant(seed: int) -> list[Planted]:
    """Every shape in every context, values drawn with `seed`."""
    lot = Lot(seed)
    cases: list[Planted] = []
    for shape, draw in FORMATS.items():
        value = draw(lot)
        cases += _cases(shape, "format", f"seen in the log: {value}", (value,), lot)
    for shape, (draw, templates) in NAMED.items():
        for template in templates:
            value = draw(lot)
            line = template.format(v=value)
            cases += _cases(f"{shape}: {template[:30]}", "named", line, (value,), lot)
    for template in URLS:
        value = lot.mixed(18)
        cases += _cases(template.split(":")[0], "url", template.format(v=value), (value,), lot)
    cases += _keys(lot)
    for shape, draw in LONG_TAIL.items():
        value = draw(lot)
        cases += _cases(shape, "long tail", f"used yesterday: {value}", (value,), lot)
    return cases


def _keys(lot: Lot) -> Iterator[Planted]:
    for kind in KEY_KINDS:
        for name, cut in (("whole", None), ("cut off", -1), ("indented", None)):
            lines = lot.key_lines()
            block = ["-----BE" + f"GIN {kind}-----", *lines, "-----E" + f"ND {kind}-----"][:cut]
            indent = "    " if name == "indented" else ""
            text = "\n".join(indent + line for line in block)
            yield from _cases(f"{kind} {name}", "key", text, tuple(lines), lot)


def is_caught(secrets: tuple[str, ...], redacted: str) -> bool:
    """No run of a secret longer than six characters or a fifth of it is left."""
    for secret in secrets:
        run = max(6, len(secret) // 5) + 1
        if any(secret[i : i + run] in redacted for i in range(len(secret) - run + 1)):
            return False
    return True
