"""Every rule and every exception of the redaction, as a case. Values are drawn at run time."""

from __future__ import annotations

import pytest
from hostile_texts import HOSTILE
from planted_secrets import BASE64, FORMATS, NAMED, URLS, Lot, is_caught, plant

from skill_learner.learning.redaction import Redactor, secret_environment_values

LOT = Lot(20_261)
TEMPLATES = [(shape, draw, t) for shape, (draw, templates) in NAMED.items() for t in templates]


@pytest.mark.parametrize("shape", FORMATS)
def test_a_token_is_known_by_its_shape(shape: str) -> None:
    value = FORMATS[shape](LOT)
    redacted = Redactor().redact(f"seen: {value}, then more")
    assert is_caught((value,), redacted)
    assert "<secret:" in redacted
    assert redacted.endswith(", then more")


@pytest.mark.parametrize(("shape", "draw", "template"), TEMPLATES)
def test_a_name_a_flag_or_a_header_gives_a_secret_away(shape: str, draw, template: str) -> None:
    value = draw(LOT)
    redacted = Redactor().redact(template.format(v=value))
    assert is_caught((value,), redacted), redacted


@pytest.mark.parametrize("template", URLS)
def test_a_url_keeps_its_host_and_loses_its_password(template: str) -> None:
    value = LOT.mixed(18)
    redacted = Redactor().redact(template.format(v=value))
    assert value not in redacted
    assert redacted == template.format(v="<secret:url-password>")


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_nearly_everything_planted_is_caught_in_every_context(seed: int) -> None:
    cases = [case for case in plant(seed) if case.group != "long tail"]
    missed = [c for c in cases if not is_caught(c.secrets, Redactor().redact(c.text))]
    assert len(missed) <= 0.02 * len(cases), [(c.shape, c.context) for c in missed]


def test_a_key_cut_off_at_either_end_is_taken_and_its_markers_stay() -> None:
    lines = LOT.key_lines()
    begin, end = "-----BE" + "GIN PRIVATE KEY-----", "-----E" + "ND PRIVATE KEY-----"
    for block in ([begin, *lines], [*lines, end], [begin, *lines, end]):
        redacted = Redactor().redact("\n".join(["before", *block, "after"]))
        assert is_caught(tuple(lines), redacted)
        assert redacted.startswith("before\n")
        assert redacted.endswith("\nafter")
        assert "PRIVATE KEY" in redacted


def test_text_with_escapes_is_understood() -> None:
    value, lines = LOT.password(), LOT.key_lines()
    begin = "-----BE" + "GIN PRIVATE KEY-----"
    text = f'{{\\"password\\": \\"{value}\\"}}\\nKEY=\\"{begin}\\n' + "\\n".join(lines) + '\\n\\"'
    assert is_caught((value, *lines), Redactor().redact(text))


SENTENCES = (
    "la contraseña del servidor es {v}", "Contraseña: {v}", "**contrasena**: {v}",
    "la clave de la base de datos es {v}", "A senha do banco é {v}.", "senha={v}",
    "Hasło do bazy to {v}", "hasło do stagingu brzmi „{v}”", "haslo: {v}",
    "пароль от базы — {v}", "Пароль: {v}", "пароль базы это {v}, запомни",
    "het wachtwoord is {v}", "İstanbul için şifre: {v}",
    "the staging password is changeme{v}", "remember: the password is Example-{v}",
    "recuerda que la contraseña es SuperSecret-{v}", "password: fake{v}",
)  # fmt: skip


@pytest.mark.parametrize("sentence", SENTENCES)
def test_a_password_is_known_by_the_word_in_other_languages_and_around_a_stand_in(
    sentence: str,
) -> None:
    value = f"{LOT.password()}#7aB"
    redacted = Redactor().redact(sentence.format(v=value))
    assert is_caught((value,), redacted), redacted


ALLOWED = (
    "la clave primaria es id_usuario2 y la clave: usuario2",
    "La contraseña es obligatoria; si la contraseña es incorrecta, vuelve a probar2",
    'contraseña = os.environ["PW1"]; senha: ${DB_SENHA1}; hasło: <twoje-haslo-1>',
    "A senha é a mesma de ontem. hasło jest wymagane. пароль - это строка",
    "введите пароль: минимум 8 символов; пароль = config.password2",
    "la clave es usar Python3.11 siempre, y clave-valor: almacena Datos1",
    "the password is changeme123, password: your_password_here1, password = Example123!",
    "max_tokens=4096 and max_tokens: 128000",
    "token count: 1234, token_count=99, tokens_used: 12345",
    "next_page_token=abcDEF123456abcDEF123456",
    'secret_id: "prod/db1/main2", key_name=deploy2024Key, token_url: https://id.example.com/v2/token',
    "public_key = ssh2AbCdEf1234567890, primary_key=id12345678ab",
    "bypass=Enabled1! passed: 12345abc!",
    '"tool_use_id": "toolu_01AbCdEfGhIjKlMnOpQrStUv"',
    "token: msg_01AbCdEfGhIjKlMnOpQr12",
    "commit 3b18e512dba79e4c8300dd08aeb37f8e728b8dad",
    "token=3b18e512dba79e4c8300dd08aeb37f8e728b8dad",
    "token: 0f8fad5b-d9cb-469f-a165-70867728950e",
    "integrity sha512-9d4b8f8c0Zr2V7bP1QmXcD3tYkLw5nJhGf6EoUiAsRqTvBxN==",
    "password = $DB_PASSWORD; token=${TOKEN}; secret={{ .Values.secret1 }}",
    "password: %ENV{DB_PASS1}, token=<your-token-1>",
    'password = os.environ["DB_PASSWORD1"]',
    "token = process.env.TOKEN_V2 || config.apiKey2",
    "apiKey = getApiKey2(config)",
    "secret = settings.SECRET_KEY_V2",
    "token = secrets.token_hex(32)",
    "password=changeme1 password=your-password-1 API_KEY=YOUR_API_KEY_12345",
    "postgres://postgres:postgres@localhost:5432/app and https://user:pass@example.com/",
    "token: TestTokenRefresh2, key: tests/data/key2.pem",
    "token-file=./secrets/token2.txt password_file: /run/secrets/db1",
    "AKIA" + "IOSFODNN7EXAMPLE is the documented example",
    "password must have 8 characters; the token expires in 3600s",
    "sk-learn-contrib-2024-edition and task-sk-001",
    "credentials=_enforce_credentials, password: _PasswordType | None, wrkspc_01"
    + "CZkZaBF1tNoB5wlCeusgy",
    "author: version2.0.1, auth_type=oauth2 authorization_code",
)


@pytest.mark.parametrize("line", ALLOWED)
def test_what_only_looks_like_a_secret_stays(line: str) -> None:
    assert Redactor().redact(line) == line


def test_signatures_and_pictures_stay() -> None:
    blob = LOT.text(4_000, BASE64)
    token_inside = blob[:300] + "AK" + "IA" + LOT.text(16, "ABCDEFGH23") + blob[300:]
    for text in (
        f'{{"type":"thinking","thinking":"hm","signature":"{token_inside}"}}',
        f'{{"type":"base64","media_type":"image/png","data":"{token_inside}"}}',
        f"![x](data:image/png;base64,{token_inside})",
        f'{{\\"encrypted_content\\":\\"{token_inside}\\"}}',
    ):
        assert Redactor().redact(text) == text


def test_a_value_once_found_goes_everywhere() -> None:
    redactor = Redactor()
    value = LOT.password()
    assert value not in redactor.redact(f"first bare: {value}\nexport DB_PASSWORD='{value}'")
    assert value not in redactor.redact(f"later, without a name: {value}.")
    assert value not in redactor.replace_known(f"log: <{value}>")


def test_values_known_beforehand_are_replaced_and_common_words_are_not() -> None:
    value = LOT.mixed(20)
    environment = {"MY_API_KEY": value, "HOME": "/home/x", "DEBUG_TOKEN": "true", "PASSWORD": "x"}
    values = secret_environment_values(environment)
    assert values == [value]
    redactor = Redactor([*values, "true", "production", "src"])
    assert redactor.redact(f"true production src {value}") == "true production src <secret:known>"


@pytest.mark.parametrize("hostile", HOSTILE, ids=lambda text: text[:12])
def test_hostile_texts_come_out_bounded(hostile: str) -> None:
    assert len(Redactor().redact(hostile)) <= 6 * len(hostile) + 40
