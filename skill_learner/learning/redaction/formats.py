"""Secrets that their own shape gives away: tokens with a known prefix, JWTs, password hashes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from skill_learner.learning.redaction.allow_list import (
    holds_placeholder,
    is_identifier,
    is_scrambled,
)
from skill_learner.learning.redaction.finding import Finding, secret


@dataclass(frozen=True)
class TokenFormat:
    """A shape. source: of its pattern, which is compiled when it is first asked for. anchor: text
    that every match holds, searched for first because that is fast. before: how far in front of the
    anchor a match may begin. group: the part that is secret. mixed: a match also needs a digit and
    letters of both cases, or it is a word or a picture."""

    kind: str
    anchor: str
    source: str
    before: int = 0
    group: int = 0
    mixed: bool = False

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        return re.compile(self.source)


def _format(
    kind: str, anchor: str, tail: str, *, before: int = 0, group: int = 0, mixed: bool = False
) -> TokenFormat:
    """`tail` follows the anchor; with `before` or `group` it is the whole pattern instead."""
    source = tail if before or group else re.escape(anchor) + tail
    return TokenFormat(kind, anchor, source, before, group, mixed)


_URL_SAFE = r"[A-Za-z0-9_-]"
_ALNUM = r"[A-Za-z0-9]"
_HEX = r"[0-9a-f]"

FORMATS: tuple[TokenFormat, ...] = (
    *(
        _format("aws-key-id", prefix, r"[A-Z0-9]{16}(?![A-Z0-9])")
        for prefix in ("AKIA", "ASIA", "ABIA", "ACCA")
    ),
    _format("aws-bedrock-key", "ABSK", r"[A-Za-z0-9+/]{60,200}={0,2}"),
    *(
        _format("github-token", prefix, _ALNUM + r"{30,255}")
        for prefix in ("ghp_", "gho_", "ghu_", "ghs_", "ghr_")
    ),
    _format("github-token", "github_pat_", r"\w{36,255}"),
    _format(
        "gitlab-token", "gl", r"(?:pat|rt|dt|cbt|ptt|ft|soat|agent|imt|ffct|oas)-[\w.-]{18,255}"
    ),
    _format("slack-token", "xox", r"[abceoprs](?:\.xox[bp])?-[A-Za-z0-9-]{16,255}"),
    _format("slack-token", "xapp-", r"\d-[A-Za-z0-9-]{20,255}"),
    _format(
        "slack-webhook",
        "hooks.slack.com/",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9]+/[A-Za-z0-9]+/([\w/]{16,})",
        group=1,
    ),
    _format(
        "discord-webhook",
        "/api/webhooks/",
        r"/api/webhooks/\d{15,22}/([\w-]{40,100})",
        group=1,
    ),
    _format(
        "teams-webhook",
        "/IncomingWebhook/",
        r"/IncomingWebhook/([0-9a-f]{32}/[0-9a-f-]{36})",
        group=1,
    ),
    *(
        _format("stripe-key", prefix + kind, _ALNUM + r"{16,255}")
        for prefix in ("sk_", "rk_")
        for kind in ("live_", "test_")
    ),
    _format("webhook-secret", "whsec_", r"[A-Za-z0-9+/=]{24,255}"),
    _format("google-api-key", "AIza", _URL_SAFE + r"{35}"),
    _format("google-client-secret", "GOCSPX-", _URL_SAFE + r"{20,60}"),
    _format("google-access-token", "ya29.", r"[\w.-]{20,2048}"),
    _format("google-refresh-token", "1//0", _URL_SAFE + r"{40,255}", mixed=True),
    _format("api-key", "sk-", r"(?:[a-z]{2,12}\d{0,2}-){0,3}[\w-]{20,255}", mixed=True),
    _format("huggingface-token", "hf_", r"[A-Za-z0-9]{30,60}"),
    _format("groq-key", "gsk_", _ALNUM + r"{40,80}"),
    _format("xai-key", "xai-", _ALNUM + r"{60,120}"),
    _format("perplexity-key", "pplx-", _ALNUM + r"{40,80}"),
    _format("replicate-token", "r8_", _ALNUM + r"{35,45}"),
    _format("nvidia-key", "nvapi-", _URL_SAFE + r"{40,120}"),
    _format("cerebras-key", "csk-", r"[a-z0-9]{40,60}"),
    _format("pinecone-key", "pcsk_", r"\w{40,120}"),
    _format("langsmith-key", "lsv2_", r"(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{8,12}"),
    _format("tavily-key", "tvly-", r"[\w-]{24,60}"),
    _format("firecrawl-key", "fc-", _HEX + r"{32}"),
    _format("jina-key", "jina_", r"\w{40,80}"),
    _format("npm-token", "npm_", _ALNUM + r"{36}(?![A-Za-z0-9])"),
    _format("pypi-token", "pypi-AgE", _URL_SAFE + r"{40,1024}"),
    _format("rubygems-key", "rubygems_", _HEX + r"{40,60}"),
    _format("crates-token", "cio", _ALNUM + r"{32}(?![A-Za-z0-9])", mixed=True),
    _format("clojars-token", "CLOJARS_", r"[a-z0-9]{50,70}"),
    _format("docker-token", "dckr_", r"(?:pat|oat)_[\w-]{20,60}"),
    *(
        _format("digitalocean-token", prefix + "_v1_", _HEX + r"{64}")
        for prefix in ("dop", "doo", "dor")
    ),
    _format("twilio-key", "SK", _HEX + r"{32}(?![0-9a-f])"),
    _format("sendgrid-key", "SG.", r"[\w-]{16,32}\.[\w-]{30,60}"),
    _format("mailgun-key", "key-", _HEX + r"{32}(?![0-9a-f])"),
    _format("mailchimp-key", "-us", r"[0-9a-f]{32}-us\d{1,2}(?!\w)", before=32),
    _format("brevo-key", "xkeysib-", r"[0-9a-f]{40,80}-\w{10,20}"),
    _format("mailersend-key", "mlsn.", _HEX + r"{50,80}"),
    _format("resend-key", "re_", _ALNUM + r"{8}_[A-Za-z0-9]{20,32}", mixed=True),
    _format("telegram-token", ":AA", r"\d{8,10}:AA[\w-]{32,36}(?![\w-])", before=10),
    _format("databricks-token", "dapi", _HEX + r"{32}(?:-\d)?"),
    _format("sentry-token", "sntr", r"(?:ys|yu)_[\w+/=.-]{40,512}"),
    _format("shopify-token", "shp", r"(?:at|ca|pa|ss|ka|tka)_[0-9a-fA-F]{32}"),
    _format("linear-key", "lin_", r"(?:api|oauth)_[A-Za-z0-9]{32,64}"),
    _format("notion-token", "ntn_", _ALNUM + r"{40,60}"),
    _format("notion-token", "secret_", _ALNUM + r"{43}(?![A-Za-z0-9])"),
    _format("figma-token", "figd_", _URL_SAFE + r"{30,80}"),
    _format("atlassian-token", "AT", r"(?:ATT3|CTT3|BBT3|STT3)[\w=-]{40,512}"),
    _format("grafana-token", "gls", r"a_[A-Za-z0-9]{32}_[0-9a-fA-F]{8}"),
    _format("grafana-token", "glc_", r"[A-Za-z0-9+/=]{40,400}"),
    _format("newrelic-key", "NR", r"(?:AK|RA|AA|II|IQ|SP|JS)-[A-Z0-9a-f]{20,48}"),
    *(_format("vault-token", prefix, r"[\w-]{24,300}") for prefix in ("hvs.", "hvb.", "hvr.")),
    _format("terraform-token", ".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[\w-]{50,80}", before=14),
    _format("heroku-key", "HRKU-", r"[\w-]{36,80}"),
    _format("supabase-key", "sb", r"(?:_secret_[\w-]{20,60}|p_[0-9a-f]{40})"),
    _format("age-key", "AGE-SECRET-KEY-1", r"[A-Z0-9]{50,64}"),
    _format("postman-key", "PMAK-", r"[0-9a-f]{24}-[0-9a-f]{34}"),
    _format("doppler-token", "dp.", r"(?:pt|st|ct|sa|scim|audit)\.[\w.-]{40,80}"),
    _format("tailscale-key", "tskey-", r"[a-z]{3,8}-[\w-]{16,80}"),
    _format("airtable-token", "pat", r"[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    _format("planetscale-secret", "pscale_", r"(?:tkn|pw|oauth)_[\w.=-]{30,80}"),
    _format("fly-token", "fm", r"[12][ar]?_[A-Za-z0-9+/=,_]{60,2000}"),
    _format("netlify-token", "nfp_", _ALNUM + r"{36,44}"),
    _format("posthog-key", "phx_", _ALNUM + r"{40,60}"),
    _format("hubspot-token", "pat-", r"(?:na|eu)\d-[0-9a-f-]{36}"),
    _format("buildkite-token", "bkua_", r"[0-9a-f]{40}"),
    _format("circleci-token", "CCIPAT_", r"\w{30,80}"),
    _format("sonar-token", "sq", r"[upa]_[0-9a-f]{40}"),
    _format("square-secret", "sq0", r"(?:csp|atp|idp)-[\w-]{22,60}"),
    _format("dynatrace-token", "dt0c01.", r"[A-Z2-7]{24}\.[A-Z2-7]{64}"),
    _format("contentful-token", "CFPAT-", r"[\w-]{40,50}"),
    _format("easypost-key", "EZ", r"[AT]K[A-Za-z0-9]{54}"),
    _format("frameio-token", "fio-u-", r"[\w-]{60,70}"),
    _format("alibaba-key-id", "LTAI", _ALNUM + r"{16,24}(?![A-Za-z0-9])", mixed=True),
    _format("facebook-token", "EAA", _ALNUM + r"{80,255}(?![A-Za-z0-9+/=])", mixed=True),
    _format("azure-client-secret", "8Q~", r"[\w.~-]{3}8Q~[\w.~-]{31,37}", before=3),
    _format(
        "jwt",
        "eyJ",
        r"[\w-]{8,4096}\.eyJ[\w-]{4,8192}(?:\.[\w-]{0,1024})?",
    ),
    _format(
        "password-hash",
        "$",
        r"(?:2[abxy]|apr1|1|5|6|y|7|argon2(?:id|i|d)|pbkdf2-sha\d+|scrypt)\$[./A-Za-z0-9$=,+-]{20,255}(?<![,.-])",
    ),
)

_DISCORD_BOT = re.compile(r"[MNO][A-Za-z0-9_-]{23,27}\.[\w-]{6}\.[\w-]{27,45}(?![\w-])")
_UNKNOWN_PROVIDER = re.compile(
    r"(?<![A-Za-z0-9_.-])[a-z][a-z0-9]{1,11}[_-](?:[a-z]{2,12}[_-]){0,2}"
    r"(?P<lot>[A-Za-z0-9]{24,512})(?![A-Za-z0-9])"
)
_RUN = re.compile(r"[A-Za-z0-9_-]{16,}")
_BY_RUN = tuple(
    token_format
    for token_format in FORMATS
    if re.fullmatch(r"[A-Za-z0-9_-]+", token_format.anchor) and "+/" not in token_format.source
)
"""Formats whose anchor stands in a long run of letters, digits, hyphens and underscores."""
_BY_TEXT = tuple(token_format for token_format in FORMATS if token_format not in _BY_RUN)


def token_findings(text: str) -> Iterator[Finding]:
    """Every token in `text` whose shape is known."""
    for token_format in _BY_TEXT:
        if token_format.anchor in text:
            yield from _matches(token_format, text)
    # Eighty searches in the long runs of `text` cost a tenth of eighty in all of it.
    runs = "\n".join(_RUN.findall(text))
    if not runs:
        return
    for token_format in _BY_RUN:
        if token_format.anchor in runs:
            yield from _matches(token_format, text)
    if _UNKNOWN_PROVIDER.search(runs):
        yield from _unknown_providers(text)
    if "." in text:
        for match in _DISCORD_BOT.finditer(text):
            if _stands_alone(text, match.start()) and is_mixed(match.group()):
                yield secret("discord-token", *match.span())


def _unknown_providers(text: str) -> Iterator[Finding]:
    """Tokens built as most are, a short name and then letters and digits drawn by lot."""
    for match in _UNKNOWN_PROVIDER.finditer(text):
        if is_identifier(match.group()) or holds_placeholder(match.group()):
            continue
        if is_scrambled(match["lot"]) and any(one.isdigit() for one in match["lot"]):
            yield secret("token", *match.span())


def _matches(token_format: TokenFormat, text: str) -> Iterator[Finding]:
    anchor, group, position = token_format.anchor, token_format.group, 0
    # The anchor is where a token begins, and nothing may run into it.
    first = not token_format.before and not group and anchor[0].isalnum()
    while (hit := text.find(anchor, position)) >= 0:
        position = hit + len(anchor)
        if first and not _stands_alone(text, hit):
            continue
        match = _match_at(token_format, text, hit)
        if match is None or not (first or group or _stands_alone(text, match.start())):
            continue
        position = max(position, match.end())
        if holds_placeholder(match.group()):
            continue
        if token_format.mixed and not is_mixed(match.group()[len(anchor) :]):
            continue
        yield secret(token_format.kind, *match.span(token_format.group))


def _match_at(token_format: TokenFormat, text: str, hit: int) -> re.Match[str] | None:
    match = token_format.pattern.match(text, max(0, hit - token_format.before))
    if match is None and token_format.before > 1:
        # A shape of variable length in front of its anchor (the digits of a Telegram bot's id).
        match = token_format.pattern.search(text, max(0, hit - token_format.before), hit + 400)
    return match


def _stands_alone(text: str, start: int) -> bool:
    """Nothing runs into the token. The letter of an escape (`\\n`, `\\t`) is no neighbour."""
    if start == 0 or not text[start - 1].isalnum():
        return True
    return text[start - 1] in "nrt" and start > 1 and text[start - 2] == "\\"


def is_mixed(value: str) -> bool:
    """Has a digit and a letter, and does not read like words joined by hyphens."""
    digits = sum(character.isdigit() for character in value)
    return (
        digits > 1
        and any(character.isalpha() for character in value)
        and not _WORDY.fullmatch(value)
    )


_WORDY = re.compile(r"(?:[A-Z]?[a-z]+|\d{1,4}|v\d+)(?:[-_.](?:[A-Z]?[a-z]+|\d{1,4}|v\d+))*")
