from __future__ import annotations

import contextlib
import dataclasses
import re
from datetime import date
from pathlib import Path

import pytest

from skill_learner.config import SkillLearnerConfig, user_settings_file
from skill_learner.config_project import PROJECT_KEYS
from skill_learner.errors import ConfigError
from skill_learner.hook_conf import write_hook_conf
from skill_learner.providers import PROVIDERS

PROMISED = {
    "nudge_interval": 10,
    "storage_backend": "sqlite",
    "review_timeout": 30,
    "semantic_top_k": 5,
    "semantic_threshold": 0.3,
}


def user_file(text: str) -> Path:
    path = user_settings_file()
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_promised_keys_have_their_defaults(hermetic_home: Path) -> None:
    values = SkillLearnerConfig().values()
    assert {key: values[key] for key in PROMISED} == PROMISED
    assert values["skills_dir"] == hermetic_home / ".skill_learner" / "skills"


def test_library_lies_below_a_moved_state_folder(tmp_path: Path) -> None:
    config = SkillLearnerConfig(state_dir=tmp_path / "state")
    assert config.skills_dir == tmp_path / "state" / "skills"
    assert config.index_db == config.paths.index_db


def test_a_library_of_its_own_has_an_index_of_its_own(tmp_path: Path) -> None:
    config = SkillLearnerConfig(skills_dir=str(tmp_path / "mine"))
    assert config.index_db.parent == tmp_path / "mine"


def test_home_and_relative_paths_resolve(
    tmp_path: Path, hermetic_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    config = SkillLearnerConfig.from_dict({"skills_dir": "./skills", "state_dir": "~/state"})
    assert config.skills_dir == tmp_path / "skills"
    assert config.state_dir == hermetic_home / "state"


def test_paths_in_a_file_count_from_its_folder(tmp_path: Path) -> None:
    file = tmp_path / "conf" / "skill-learner.yaml"
    file.parent.mkdir()
    file.write_text("skills_dir: ../skills\nnudge_interval: 5\n", encoding="utf-8")
    config = SkillLearnerConfig.from_yaml(file)
    assert (config.skills_dir, config.nudge_interval) == (tmp_path / "skills", 5)


def test_environment_texts_become_numbers() -> None:
    config = SkillLearnerConfig.from_env(
        environ={
            "SKILL_LEARNER_NUDGE_INTERVAL": "3",
            "SKILL_LEARNER_SEMANTIC_THRESHOLD": "0.5",
            "SKILL_LEARNER_OFF": "yes",
            "SKILL_LEARNER_MODEL": "",
            "SKILL_LEARNER_REVIEW": "1",
        }
    )
    assert (config.nudge_interval, config.semantic_threshold, config.off) == (3, 0.5, True)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("model: x\nnudge_intervall: 5\n", ":2: unknown key `nudge_intervall`"),
        ("# ours\n\nmodel: x\nnudge_interval: many\n", ":4: nudge_interval must be a whole number"),
        ("model: x\nskills_dir: [a]\n", ":2: skills_dir must be a path"),
        ("model: x\nremotes: {a: {url: x, colour: red}}\n", ":2: remotes: a: unknown key"),
    ],
)
def test_a_fault_in_a_file_names_its_line(tmp_path: Path, text: str, place: str) -> None:
    file = tmp_path / "skill-learner.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=re.escape(f"{file}{place}")):
        SkillLearnerConfig.from_yaml(file)
    user_file(text)
    with pytest.raises(ConfigError, match=re.escape(f"{user_settings_file()}{place}")):
        SkillLearnerConfig.load()


@pytest.mark.parametrize("given", [None, 5, ""])
def test_a_folder_that_is_no_path_is_refused_in_words(given: object) -> None:
    with pytest.raises(ConfigError, match="skills_dir must be a path"):
        SkillLearnerConfig(skills_dir=given)  # type: ignore[arg-type]


def test_a_program_written_as_a_path_counts_from_its_file(tmp_path: Path) -> None:
    file = tmp_path / "conf" / "skill-learner.yaml"
    file.parent.mkdir()
    commands = {
        "./judge --fast 'a b'": f"{file.parent}/judge --fast 'a b'",
        "../judge": f"{tmp_path}/judge",
        "judge --json": "judge --json",
        "/opt/judge  -x": "/opt/judge  -x",
        "judge 'open": "judge 'open",
    }
    for written, meant in commands.items():
        file.write_text(f'command: "{written}"\n', encoding="utf-8")
        assert SkillLearnerConfig.from_yaml(file).command == meant


def test_another_prefix_leaves_its_other_variables_alone() -> None:
    environ = {"APP_NUDGE_INTERVAL": "4", "APP_DATABASE_URL": "x"}
    assert SkillLearnerConfig.from_env("APP_", environ).nudge_interval == 4


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"nudge_intervall": 5}, "did you mean `nudge_interval`"),
        ({"colour": 5}, "known keys"),
        ({"nudge_interval": "many"}, "whole number"),
        ({"nudge_interval": 2.5}, "whole number"),
        ({"nudge_interval": 0}, "must lie in"),
        ({"nudge_interval": True}, "whole number"),
        ({"semantic_threshold": "nan"}, "must lie in"),
        ({"storage_backend": "mongo"}, "'sqlite'"),
        ({"skills_dir": 5}, "must be a path"),
        ({"skills_dir": ""}, "must be a path"),
        ({"model": 5}, "must be text"),
        ({"off": "maybe"}, "true or false"),
    ],
)
def test_wrong_values_are_refused_in_words(values: dict[str, object], words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        SkillLearnerConfig.from_dict(values)
    assert words in caught.value.message + " " + caught.value.hint


def test_a_mistyped_variable_is_named() -> None:
    with pytest.raises(ConfigError) as caught:
        SkillLearnerConfig.from_env(environ={"SKILL_LEARNER_NUDGE_INTERVALL": "3"})
    assert caught.value.hint == "did you mean SKILL_LEARNER_NUDGE_INTERVAL?"


@pytest.mark.parametrize(
    ("text", "line", "name"),
    [
        ("nudge_interval: 3\n# more\nnudge_interval: 7\n", 3, "nudge_interval"),
        ("'off': true\noff: false\n", 2, "off"),
        ("remotes:\n  team:\n    url: a\n    url: b\n", 4, "url"),
        ("remotes: {team: a,\n  team: b}\n", 2, "team"),
    ],
)
def test_a_key_that_stands_twice_is_named_with_its_line(
    tmp_path: Path, text: str, line: int, name: str
) -> None:
    file = tmp_path / "skill-learner.yaml"
    file.write_text(text)
    with pytest.raises(ConfigError, match=f"yaml:{line}: the key `{name}` stands in line"):
        SkillLearnerConfig.from_yaml(file)


@pytest.mark.parametrize(
    ("text", "place"),
    [("a: 1\nb:\n  c: 1\n d: 2\n", ":4:"), ("- a\n", ":1:"), ("a: \x00\n", "YAML")],
)
def test_broken_yaml_names_file_and_line(tmp_path: Path, text: str, place: str) -> None:
    file = tmp_path / "skill-learner.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        SkillLearnerConfig.from_yaml(file)
    assert str(file) in caught.value.message
    assert place in caught.value.message


NO_VALUES = {
    "a date that is none": "2024-13-45",
    "400 digits": "1" * 400,
    "5000 digits": "1" * 5_000,
    "5000 digits of 16": "0x" + "f" * 5_000,
    "lists in lists": "[" * 1_000,
    "closed lists in lists": "[" * 300 + "]" * 300,
    "a truth value that is none": "!!bool maybe",
    "a whole number that is none": "!!int ''",
    "a time that is none": "!!timestamp soon",
    "infinity": ".inf",
    "bytes": "!!binary aGk=",
    "a set": "{1, 2}",
    "an alias of itself": "&a [*a]",
    "a text of many letters": "x" * 100_000,
}


@pytest.mark.parametrize("key", ["nudge_interval", "off"])
@pytest.mark.parametrize("value", NO_VALUES.values(), ids=NO_VALUES.keys())
def test_what_no_setting_can_be_is_refused_with_file_and_line(
    value: str, key: str, tmp_path: Path
) -> None:
    file = tmp_path / "skill-learner.yaml"
    file.write_text(f"model: x\n{key}: {value}\n", encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        SkillLearnerConfig.from_yaml(file)
    told = caught.value.message
    assert told.startswith((f"{file}:2", f"{file}: not valid YAML: nested too deeply"))
    assert len(told) < len(str(file)) + 400


@pytest.mark.parametrize("key", sorted(SkillLearnerConfig().values()))
def test_no_value_of_any_key_is_more_than_a_fault_in_words(key: str) -> None:
    values = 10**400, 16**5_000, float("inf"), b"hi", {1, 2}, date(2030, 1, 1), [[[]]], "x" * 9_999
    for value in values:
        with contextlib.suppress(ConfigError):
            SkillLearnerConfig.from_dict({key: value})


def test_sources_in_their_order_with_their_origins(tmp_path: Path) -> None:
    mine = user_file("nudge_interval: 2\nindex_tokens: 200\nprovider: offline\ndaily_reviews: 2\n")
    theirs = tmp_path / "skill-learner.yaml"
    theirs.write_text("nudge_interval: 3\nindex_tokens: 100\nsemantic_top_k: 3\n", encoding="utf-8")
    config = SkillLearnerConfig.load(
        tmp_path,
        environ={"SKILL_LEARNER_INDEX_TOKENS": "400", "SKILL_LEARNER_DAILY_REVIEWS": "4"},
        arguments={"daily_reviews": 5},
    )
    assert (config.provider, config.nudge_interval, config.index_tokens) == ("offline", 3, 400)
    assert config.daily_reviews == 5
    assert config.origins["provider"] == f"file {mine}"
    assert config.origins["nudge_interval"] == f"file {theirs}"
    assert config.origins["index_tokens"] == "environment SKILL_LEARNER_INDEX_TOKENS"
    assert config.origins["daily_reviews"] == "argument"
    assert config.origins["model"] == "default"


def test_a_cloned_repository_cannot_run_send_or_write(tmp_path: Path) -> None:
    (tmp_path / "skill-learner.yaml").write_text(
        "provider: command\ncommand: touch /tmp/owned\nskills_dir: /tmp\nstate_dir: /tmp\n"
        "base_url: http://evil.invalid\ndaily_tokens: 1000000000\nnudge_interval: 40\n",
        encoding="utf-8",
    )
    config = SkillLearnerConfig.load(tmp_path, environ={})
    plain = SkillLearnerConfig()
    assert config.nudge_interval == 40
    assert dataclasses.replace(config, nudge_interval=plain.nudge_interval) == plain
    ignored = {warning.split("`")[1] for warning in config.warnings}
    assert ignored == {
        "provider",
        "command",
        "skills_dir",
        "state_dir",
        "base_url",
        "daily_tokens",
    }


def test_safe_keys_choose_no_path_program_or_receiver() -> None:
    paths_programs_receivers = {
        "skills_dir",
        "state_dir",
        "command",
        "provider",
        "model",
        "base_url",
        "daily_reviews",
        "daily_tokens",
        "digest_tokens",
        "approval",
        "off",
    }
    assert not PROJECT_KEYS & paths_programs_receivers
    assert set(SkillLearnerConfig().values()) > PROJECT_KEYS


def test_hook_conf_is_written_once_and_private(tmp_path: Path) -> None:
    config = SkillLearnerConfig(state_dir=tmp_path / "state", nudge_interval=4)
    write_hook_conf(config)
    target = config.paths.hook_conf
    first = target.stat()
    assert b"nudge_interval=4\n" in target.read_bytes()
    assert first.st_mode & 0o777 == 0o600
    write_hook_conf(config)
    assert target.stat().st_ino == first.st_ino
    write_hook_conf(dataclasses.replace(config, nudge_interval=5))
    assert b"nudge_interval=5\n" in target.read_bytes()


def test_settings_are_immutable() -> None:
    config = SkillLearnerConfig()
    with pytest.raises(dataclasses.FrozenInstanceError):
        config.nudge_interval = 5  # type: ignore[misc]


def test_every_provider_can_be_named_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("auto", "offline", *PROVIDERS):
        monkeypatch.setenv("SKILL_LEARNER_PROVIDER", name)
        assert SkillLearnerConfig.load().provider == name
    monkeypatch.setenv("SKILL_LEARNER_PROVIDER", "gpt")
    with pytest.raises(ConfigError, match="SKILL_LEARNER_PROVIDER: provider must be one of"):
        SkillLearnerConfig.load()
