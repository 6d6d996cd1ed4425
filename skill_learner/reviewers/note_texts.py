"""Headings and sentences of notes by rule, in thirteen languages. Data only.

`{command}`, `{error}`, `{files}`, `{quote}` and `{context}` are filled in. Every language has the
same keys.
"""

from __future__ import annotations

_KEYS = (
    "use_failed use_said use_rule use_repeated when worked check said rule "
    "failed failed_again passed changed lines ran looked human_ran by_rule by_words"
).split()

_ROWS: dict[str, tuple[str, ...]] = {
    "en": (
        "Use when `{command}` fails with: {error}",
        "Use when working with {context}. The person's correction: “{quote}”",
        "Use when working in this project. The person's rule: “{quote}”",
        "Use when doing what was done in several sessions: {command}",
        "When", "What worked", "Check", "What the person said", "The person's rule",
        "`{command}` failed with:", "After a first change it failed with:", "`{command}` passed.",
        "Changed in between: {files}.", "Lines that were written in between:",
        "Run in between: `{command}`", "Looked up in between: `{command}`",
        "The person ran `{command}`.", "Noted by rule; the cause is not verified.",
        "The person's own words; nothing else was checked.",
    ),
    "de": (
        "Verwenden, wenn `{command}` scheitert mit: {error}",
        "Verwenden bei der Arbeit mit {context}. Korrektur der Person: „{quote}“",
        "Verwenden bei der Arbeit in diesem Projekt. Regel der Person: „{quote}“",
        "Verwenden für das, was in mehreren Sitzungen getan wurde: {command}",
        "Wann", "Was geholfen hat", "Prüfung", "Was die Person sagte", "Regel der Person",
        "`{command}` scheiterte mit:", "Nach einer ersten Änderung scheiterte es mit:",
        "`{command}` lief durch.", "Dazwischen geändert: {files}.",
        "Dazwischen geschriebene Zeilen:", "Dazwischen ausgeführt: `{command}`",
        "Dazwischen nachgesehen: `{command}`", "Die Person führte `{command}` aus.",
        "Nach Regel notiert; die Ursache ist nicht geprüft.",
        "Worte der Person; sonst wurde nichts geprüft.",
    ),
    "fr": (
        "À utiliser quand `{command}` échoue avec : {error}",
        "À utiliser en travaillant avec {context}. Correction de la personne : « {quote} »",
        "À utiliser en travaillant dans ce projet. Règle de la personne : « {quote} »",
        "À utiliser pour ce qui a été fait dans plusieurs sessions : {command}",
        "Quand", "Ce qui a marché", "Vérification", "Ce que la personne a dit",
        "Règle de la personne", "`{command}` a échoué avec :",
        "Après un premier changement, échec avec :", "`{command}` a réussi.",
        "Modifié entre-temps : {files}.", "Lignes écrites entre-temps :",
        "Exécuté entre-temps : `{command}`", "Consulté entre-temps : `{command}`",
        "La personne a lancé `{command}`.", "Noté par règle ; la cause n'est pas vérifiée.",
        "Les mots de la personne ; rien d'autre n'a été vérifié.",
    ),
    "es": (
        "Usar cuando `{command}` falla con: {error}",
        "Usar al trabajar con {context}. Corrección de la persona: «{quote}»",
        "Usar al trabajar en este proyecto. Regla de la persona: «{quote}»",
        "Usar para lo que se hizo en varias sesiones: {command}",
        "Cuándo", "Lo que funcionó", "Comprobación", "Lo que dijo la persona",
        "Regla de la persona", "`{command}` falló con:", "Tras un primer cambio falló con:",
        "`{command}` pasó.", "Cambiado entretanto: {files}.", "Líneas escritas entretanto:",
        "Ejecutado entretanto: `{command}`", "Consultado entretanto: `{command}`",
        "La persona ejecutó `{command}`.", "Anotado por regla; la causa no está verificada.",
        "Palabras de la persona; no se comprobó nada más.",
    ),
    "pt": (
        "Usar quando `{command}` falha com: {error}",
        "Usar ao trabalhar com {context}. Correção da pessoa: “{quote}”",
        "Usar ao trabalhar neste projeto. Regra da pessoa: “{quote}”",
        "Usar para o que foi feito em várias sessões: {command}",
        "Quando", "O que funcionou", "Verificação", "O que a pessoa disse", "Regra da pessoa",
        "`{command}` falhou com:", "Após uma primeira mudança falhou com:", "`{command}` passou.",
        "Alterado entretanto: {files}.", "Linhas escritas entretanto:",
        "Executado entretanto: `{command}`", "Consultado entretanto: `{command}`",
        "A pessoa executou `{command}`.", "Anotado por regra; a causa não foi verificada.",
        "Palavras da pessoa; nada mais foi verificado.",
    ),
    "it": (
        "Da usare quando `{command}` fallisce con: {error}",
        "Da usare lavorando con {context}. Correzione della persona: «{quote}»",
        "Da usare lavorando in questo progetto. Regola della persona: «{quote}»",
        "Da usare per ciò che si è fatto in più sessioni: {command}",
        "Quando", "Che cosa ha funzionato", "Verifica", "Che cosa ha detto la persona",
        "Regola della persona", "`{command}` è fallito con:",
        "Dopo una prima modifica è fallito con:", "`{command}` è riuscito.",
        "Modificato nel frattempo: {files}.", "Righe scritte nel frattempo:",
        "Eseguito nel frattempo: `{command}`", "Consultato nel frattempo: `{command}`",
        "La persona ha eseguito `{command}`.", "Annotato per regola; la causa non è verificata.",
        "Parole della persona; nient'altro è stato verificato.",
    ),
    "nl": (
        "Gebruik wanneer `{command}` faalt met: {error}",
        "Gebruik bij werk met {context}. Correctie van de persoon: “{quote}”",
        "Gebruik bij werk in dit project. Regel van de persoon: “{quote}”",
        "Gebruik voor wat in meerdere sessies gedaan werd: {command}",
        "Wanneer", "Wat werkte", "Controle", "Wat de persoon zei", "Regel van de persoon",
        "`{command}` faalde met:", "Na een eerste wijziging faalde het met:",
        "`{command}` slaagde.", "Intussen gewijzigd: {files}.", "Intussen geschreven regels:",
        "Intussen uitgevoerd: `{command}`", "Intussen opgezocht: `{command}`",
        "De persoon voerde `{command}` uit.", "Genoteerd volgens regel; oorzaak niet geverifieerd.",
        "Woorden van de persoon; verder is niets gecontroleerd.",
    ),
    "pl": (
        "Użyj, gdy `{command}` kończy się błędem: {error}",
        "Użyj przy pracy z {context}. Poprawka osoby: „{quote}”",
        "Użyj przy pracy w tym projekcie. Zasada osoby: „{quote}”",
        "Użyj do tego, co robiono w kilku sesjach: {command}",
        "Kiedy", "Co zadziałało", "Sprawdzenie", "Co powiedziała osoba", "Zasada osoby",
        "`{command}` zakończyło się błędem:", "Po pierwszej zmianie błąd:",
        "`{command}` przeszło.", "Zmieniono w międzyczasie: {files}.",
        "Wiersze napisane w międzyczasie:", "Uruchomiono w międzyczasie: `{command}`",
        "Sprawdzono w międzyczasie: `{command}`", "Osoba uruchomiła `{command}`.",
        "Zanotowano według reguły; przyczyna niezweryfikowana.",
        "Słowa osoby; niczego więcej nie sprawdzono.",
    ),
    "ru": (
        "Использовать, когда `{command}` падает с: {error}",
        "Использовать при работе с {context}. Поправка человека: «{quote}»",
        "Использовать при работе в этом проекте. Правило человека: «{quote}»",
        "Использовать для того, что делалось в нескольких сессиях: {command}",
        "Когда", "Что помогло", "Проверка", "Что сказал человек", "Правило человека",
        "`{command}` завершилось ошибкой:", "После первого изменения ошибка:",
        "`{command}` прошло.", "Изменено между ними: {files}.", "Строки, написанные между ними:",
        "Выполнено между ними: `{command}`", "Посмотрено между ними: `{command}`",
        "Человек выполнил `{command}`.", "Записано по правилу; причина не проверена.",
        "Слова человека; больше ничего не проверялось.",
    ),
    "ja": (
        "`{command}` が次のエラーで失敗するときに使う: {error}",
        "{context} を扱うときに使う。人による訂正: 「{quote}」",
        "このプロジェクトで作業するときに使う。人の規則: 「{quote}」",
        "複数のセッションで行われた作業に使う: {command}",
        "いつ", "うまくいったこと", "確認", "人が言ったこと", "人の規則",
        "`{command}` は次のエラーで失敗した:", "最初の変更の後、次のエラーで失敗した:",
        "`{command}` は成功した。", "その間に変更: {files}。", "その間に書かれた行:",
        "その間に実行: `{command}`", "その間に参照: `{command}`",
        "人が `{command}` を実行した。", "規則による記録。原因は未確認。",
        "人の言葉のまま。ほかは確認していない。",
    ),
    "zh": (
        "当 `{command}` 因以下错误失败时使用: {error}",
        "处理 {context} 时使用。用户的纠正: “{quote}”",
        "在本项目中工作时使用。用户的规则: “{quote}”",
        "用于多个会话中做过的事: {command}",
        "何时", "有效做法", "检查", "用户说的话", "用户的规则",
        "`{command}` 失败:", "第一次修改后失败:", "`{command}` 通过。",
        "其间修改: {files}。", "其间写入的行:", "其间运行: `{command}`",
        "其间查阅: `{command}`", "用户运行了 `{command}`。", "按规则记录；原因未验证。",
        "用户原话；其他未检查。",
    ),
    "ko": (
        "`{command}`이(가) 다음 오류로 실패할 때 사용: {error}",
        "{context} 작업 시 사용. 사용자의 정정: “{quote}”",
        "이 프로젝트에서 작업할 때 사용. 사용자의 규칙: “{quote}”",
        "여러 세션에서 한 일에 사용: {command}",
        "언제", "효과가 있었던 것", "확인", "사용자가 한 말", "사용자의 규칙",
        "`{command}` 실패:", "첫 변경 뒤 실패:", "`{command}` 통과.",
        "그 사이 변경: {files}.", "그 사이 작성한 줄:", "그 사이 실행: `{command}`",
        "그 사이 참조: `{command}`", "사용자가 `{command}`을(를) 실행함.",
        "규칙에 따른 기록; 원인은 확인되지 않음.", "사용자의 말 그대로; 그 밖은 확인하지 않음.",
    ),
    "tr": (
        "`{command}` şu hatayla başarısız olduğunda kullan: {error}",
        "{context} ile çalışırken kullan. Kişinin düzeltmesi: “{quote}”",
        "Bu projede çalışırken kullan. Kişinin kuralı: “{quote}”",
        "Birkaç oturumda yapılan iş için kullan: {command}",
        "Ne zaman", "İşe yarayan", "Kontrol", "Kişinin söylediği", "Kişinin kuralı",
        "`{command}` şu hatayla başarısız oldu:", "İlk değişiklikten sonra şu hatayla:",
        "`{command}` geçti.", "Arada değiştirilen: {files}.", "Arada yazılan satırlar:",
        "Arada çalıştırılan: `{command}`", "Arada bakılan: `{command}`",
        "Kişi `{command}` çalıştırdı.", "Kurala göre not edildi; neden doğrulanmadı.",
        "Kişinin kendi sözleri; başka bir şey denetlenmedi.",
    ),
}  # fmt: skip

TEXTS: dict[str, dict[str, str]] = {
    code: dict(zip(_KEYS, row, strict=True)) for code, row in _ROWS.items()
}


def text(language: str, key: str, **values: str) -> str:
    """A sentence in a language (English when there is none). Braces in values are left alone."""
    found = TEXTS.get(language, TEXTS["en"])[key]
    for name, value in values.items():
        found = found.replace("{" + name + "}", value)
    return found
