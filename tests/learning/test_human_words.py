"""Corrections, refusals, orders to remember and answered questions, in thirteen languages."""

from __future__ import annotations

import pytest
from session_builder import SessionBuilder

from skill_learner.learning.episodes import find_episodes
from skill_learner.learning.languages import detect_language, sentences
from skill_learner.models import Episode


def _after_work(words: str) -> tuple[Episode, ...]:
    worked = SessionBuilder().human("add the page").edit("page.ts").assistant("Done, it works.")
    return find_episodes(worked.human(words).session())


CORRECTIONS = {
    "en": "That's wrong, the port is set in the env file",
    "en2": "I ran it and the warnings are still there",
    "de": "Das stimmt nicht, der Port steht in der env-Datei",
    "fr": "C'est faux, le port est dans le fichier env",
    "es": "Eso no es correcto, el puerto está en el archivo env",
    "pt": "Isso está errado, a porta fica no arquivo env",
    "it": "È sbagliato, la porta sta nel file env",
    "nl": "Dat klopt niet, de poort staat in het env-bestand",
    "pl": "To nie działa, port jest w pliku env",
    "ru": "Это неверно, порт задан в файле env",
    "ja": "違います。ポートは env ファイルにあります",
    "zh": "不对,端口在 env 文件里设置",
    "ko": "틀렸어요. 포트는 env 파일에 있습니다",
    "tr": "Bu yanlış, port env dosyasında duruyor",
}
REMEMBER = {
    "en": "From now on run the tests with make check",
    "en2": "Always use pnpm in this repository, never npm",
    "en3": "please remember: the API lives in apps/api",
    "de": "Merk dir bitte: Tests laufen mit make check",
    "fr": "À partir de maintenant, lance les tests avec make check",
    "es": "Recuerda: las pruebas se ejecutan con make check",
    "pt": "De agora em diante rode os testes com make check",
    "it": "D'ora in poi esegui i test con make check",
    "nl": "Onthoud: tests draaien met make check",
    "pl": "Zapamiętaj: testy uruchamia się przez make check",
    "ru": "Запомни: тесты запускаются через make check",
    "ja": "今後はテストを make check で実行してください",
    "zh": "请记住:测试用 make check 运行",
    "ko": "앞으로 테스트는 make check 로 실행해 주세요",
    "tr": "Bundan sonra testleri make check ile çalıştır",
}


@pytest.mark.parametrize("words", CORRECTIONS.values(), ids=CORRECTIONS)
def test_corrections_are_found_verbatim(words: str) -> None:
    (episode,) = _after_work(words)
    assert episode.kind == "correction"
    assert episode.quote == words


@pytest.mark.parametrize("words", REMEMBER.values(), ids=REMEMBER)
def test_orders_to_remember_are_found(words: str) -> None:
    (episode,) = find_episodes(SessionBuilder().human(words).session())
    assert episode.kind == "remember_request"
    assert episode.quote == words


@pytest.mark.parametrize(
    "words",
    [
        "thanks, looks good",
        "can you also add a retry?",
        "is this always so?",
        "run it again please",
        "it always takes a minute",
        "do you remember how we did this?",
        "why did you use a list here?",
        "ok can we handle #4 quickly?",
        "no",
        "Could it be a timeout or something? It is solved when I disable telemetry.",
        "und jetzt noch die Doku bitte",
        "ok, weiter mit dem nächsten Punkt",
    ],
)
def test_weak_words_and_plain_questions_are_nothing(words: str) -> None:
    assert _after_work(words) == ()


@pytest.mark.parametrize(
    "words",
    [
        "Add a remember me checkbox to the login form",
        "Fix the bug where the app doesn't remember the user's theme",
        "The settings page should remember the last tab",
        "Add tabs and remember the last one",
        "the app must remember window position",
        "make a note component with a title and body",
        "Don't forget to update the changelog",
        "add docs for future reference",
        "I can't remember the name of the config file, find it",
        "In the future we want dark mode, but for now add a toggle",
        "Ergänze eine Checkbox dafür, in Zukunft soll das Cookie 30 Tage gelten",
        "Ajoute une case à cocher, à l'avenir le cookie dure 30 jours",
        "La aplicación recuerda la pestaña; añade una prueba",
        "L'app ricorda la scheda; aggiungi un test",
        "Добавь флажок «запомнить меня» на форму входа",
        "在登录页面添加一个“记住我”复选框",
        "Giriş formuna beni hatırla kutusu ekle",
    ],
)
def test_a_program_that_is_to_remember_is_no_order_to_the_agent(words: str) -> None:
    assert find_episodes(SessionBuilder().human(words).session()) == ()


@pytest.mark.parametrize(
    "words",
    [
        "Remember that the staging database resets every night",
        "Please remember the API server needs Redis on port 6380",
        "Could you please remember this: fixtures live in spec/data",
        "The tests need Redis. Don't forget that.",
        "For future reference: the release branch is cut from main on Mondays",
        "You must always run make gen after you edit a proto file. Keep this in mind.",
    ],
)
def test_orders_to_the_agent_are_found_within_a_sentence(words: str) -> None:
    (episode,) = find_episodes(SessionBuilder().human(words).session())
    assert episode.kind == "remember_request"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Run tests/run.sh --all. Thanks.", ("Run tests/run.sh --all.", "Thanks.")),
        ("Use v1.2.3 of foo.py! Never 2.0", ("Use v1.2.3 of foo.py!", "Never 2.0")),
        ("See https://a.example/x?y=1 now. Why?", ("See https://a.example/x?y=1 now.", "Why?")),
        ("覚えて。今後はfoo.shを使って。", ("覚えて。", "今後はfoo.shを使って。")),
        ("One\ntwo ... three", ("One", "two ...", "three")),
    ],
)
def test_sentences_end_where_people_end_them(text: str, expected: tuple[str, ...]) -> None:
    assert sentences(text) == expected


def test_a_rule_that_names_a_file_is_kept_whole() -> None:
    words = "From now on run the tests with tests/run.sh --all"
    (episode,) = find_episodes(SessionBuilder().human(words).session())
    assert episode.trigger == words


def test_a_first_message_and_talk_without_work_correct_nothing() -> None:
    assert find_episodes(SessionBuilder().human("the login is broken, fix it").session()) == ()
    talk = SessionBuilder().human("hi").assistant("Shall I push?").human("No, not yet please")
    assert find_episodes(talk.session()) == ()


def test_words_quoted_from_a_tool_or_a_fence_are_not_the_humans() -> None:
    printed = "Always use the flag --force with this tool"
    pasted = SessionBuilder().human("look").bash("mytool doc", printed).human(printed)
    assert find_episodes(pasted.session()) == ()
    fenced = "what does this mean\n```\nplease remember: use --force\n```"
    assert find_episodes(SessionBuilder().human(fenced).session()) == ()
    for build in (SessionBuilder().assistant, SessionBuilder().summary, SessionBuilder().plan):
        assert find_episodes(build("From now on run make check").session()) == ()


def test_refusals_need_words_and_more_than_a_value() -> None:
    def refuse(words: str) -> tuple[Episode, ...]:
        data = {"file_path": "/work/shop/a.sql"}
        return find_episodes(SessionBuilder().human("go").rejected("Write", data, words).session())

    (episode,) = refuse("don't touch the migrations by hand, use make migration")
    assert episode.kind == "refusal"
    for silent in ("", "Entire Inc.", "which file is that?"):
        assert refuse(silent) == ()


def test_the_humans_own_failing_command_contradicts_a_claim() -> None:
    claimed = SessionBuilder().human("fix lint").edit("a.ts").assistant("All fixed.")
    shown = claimed.human_shell("pnpm lint", "src/a.ts:1:2: error: unused\n1 error", "suspect")
    (episode,) = find_episodes(shown.session())
    assert (episode.kind, episode.command) == ("correction", "pnpm lint")


def test_pasted_terminal_output_is_cut_from_the_quote() -> None:
    (episode,) = _after_work(
        "I ran it and the warnings are still there.\n\nme@host shop % pnpm gen\n\n> shop@1 gen\n"
    )
    assert episode.quote == "I ran it and the warnings are still there."
    assert episode.command == "pnpm gen"


def test_a_how_to_question_answered_by_a_command_is_a_signal() -> None:
    asked = SessionBuilder().human("There is a file nul here that I'm unable to remove, can you?")
    done = asked.bash("Remove-Item -LiteralPath x -Force", "", tool="PowerShell")
    (episode,) = find_episodes(done.session())
    assert (episode.kind, episode.steps) == ("answered", (1, 2))
    only_read = SessionBuilder().human("how do I list all the files in here?").bash("ls", "a")
    assert find_episodes(only_read.session()) == ()


@pytest.mark.parametrize("code", [code for code in CORRECTIONS if len(code) == 2])
def test_language_is_told_from_the_words(code: str) -> None:
    assert detect_language([CORRECTIONS[code], REMEMBER[code]]) == code
