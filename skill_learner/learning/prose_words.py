"""Words by which prose states causes, guesses, failures and counts, in several languages. Data."""

from __future__ import annotations

import re


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


CAUSE = _any(
    r"\bbecause\b|\bdue to\b|\bowing to\b|\bcaused by\b|\bcauses?\b|\bthe (?:root )?cause\b"
    r"|\bstems? from\b|\bcomes? from\b|\bcame from\b|\bresults? (?:from|in)\b|\bleads? to\b"
    r"|\bthe (?:reason|culprit|issue|problem|bottleneck) (?:is|was|lies)\b|\bculprit\b"
    r"|\b(?:is|are|was|were) (?:\w+ )?the (?:\w+ )?"
    r"(?:reason|culprit|issue|problem|bottleneck|delay|cause)\b"
    r"|\bto blame\b|\bresponsible for\b|\bthat is why\b|\bthat's why\b|\bwhich is why\b"
    r"|\bmakes (?:it|the|every|each|all)\b|\bis what makes\b|\bexplains? (?:why|the)\b"
    r"|\bso that is\b|\b(?:spends?|waits?|spent|waited) (?:\w+ ){0,3}(?:on|for)\b"
    r"|\b(?:is|are|was|were) (?:already |probably |likely )?(?:resolved|fixed|solved|cured)"
    r" (?:by|during|through|in|with)\b"
    r"|\b(?:been|got|was|were|is|are) (?:already )?(?:fixed|resolved|solved)(?: since| by| in|,|\.)"
    r"|\balready (?:fixed|resolved|solved)\b|\baccounts? for\b|\bavoids\b|\bprevents\b"
    r"|\b(?:appears|happens|occurs|arises) (?:when|if|after|once)\b"
    r"|\btriggered by\b|\bcreated by\b|\bproduced by\b|\bintroduced by\b|\battributable\b",
    r"\bweil\b|\bwegen\b|\baufgrund\b|\bverursacht\b|\bliegt an\b|\bursache\b|\bdaran, dass\b",
    r"\bparce que?\b|\bà cause\b|\bdû à\b|\ben raison d|\bprovoqué\b|\bla cause\b",
    r"\bporque\b|\bdebido a\b|\bpor culpa\b|\bcausad[oa] por\b|\bdevido a\b|\bpor causa\b",
    r"\bperché\b|\ba causa d|\bdovut[oa] a\b|\bomdat\b|\bvanwege\b|\bveroorzaakt\b"
    r"|\bponieważ\b|\bz powodu\b|\bspowodowan",
    r"потому что|из-за|вызван|причин",
    r"原因|ため(?:に|、)|せいで|によって引き起こ|因为|由于|导致|造成",
    r"때문|으로 인해|원인|çünkü|yüzünden|nedeniyle|kaynaklan",
)
"""A sentence that says why something is so."""

ROOT_CAUSE = _any(
    r"\b(?:issue|problem|culprit|bottleneck|root cause|the cause|the reason|to blame)\b",
    r"\bursache\b|\bschuld\b|\bla cause\b|\bla causa\b|\bcoupable\b|\bculpable\b|причин"
    r"|原因|원인|neden",
)
"""A sentence that names the one thing to blame."""

EXISTENCE = _any(
    r"\bexists?\b|\b(?:is|are) (?:already )?(?:set|defined|configured|available|there|present"
    r"|verified|tested)\b|\b(?:was|were) (?:verified|tested|run)\b|\bpasse[sd]\b"
    r"|\bsucceed(?:s|ed)\b",
    r"\bexistier|\bist gesetzt\b|\bexiste|\bestá[n]? definid|\besiste|\bbestaat\b|\bistnieje"
    r"|существу|存在|已设置|있다|mevcut",
)
"""A sentence that says that something is there, or that it was tried."""

EFFECT = _any(
    r"\b(?:rewrites|rewrote|wraps|wrapped|strips|stripped|deletes|deleted|mangles|mangled"
    r"|corrupts|corrupted|converts|converted|turns .{1,40}? into|drops|dropped|overwrites"
    r"|overwrote|swallows|swallowed|breaks|broke)\b"
)
"""A sentence that says what something does to something."""

GUESS = _any(
    r"\blikely\b|\bprobably\b|\bpresumably\b|\bperhaps\b|\bmaybe\b|\bapparently\b|\bsupposedly\b"
    r"|\bmust be\b(?= (?:the|in|due|because))|\bmight be\b|\bcould be\b|\bmay be\b|\bseems?\b"
    r"|\busually\b|\btypically\b|\boften\b"
    r"|\bappears? to\b|\bI (?:think|guess|suspect)\b|\bsuspected\b",
    r"\bvermutlich\b|\bwahrscheinlich\b|\bvielleicht\b|\banscheinend\b|\bscheint\b",
    r"\bprobablement\b|\bpeut-être\b|\bsemble\b|\bprobablemente\b|\bquizás?\b|\bparece\b"
    r"|\bprovavelmente\b|\btalvez\b|\bprobabilmente\b|\bforse\b|\bsembra\b|\bwaarschijnlijk\b"
    r"|\bprawdopodobnie\b",
    r"вероятно|возможно|кажется|похоже|おそらく|たぶん|かもしれ|可能是|大概|也许|似乎"
    r"|아마|인 것 같|muhtemelen|belki",
)
"""A sentence that admits to be a guess."""

FAILURE = _any(
    r"fail|error|\bnot\b|n't\b|n’t\b|\bnever\b|\bno\b|avoid|instead|\bwrong|\bonly\b|invalid"
    r"|reject|refus|broke|\bwithout\b|matches nothing|pitfall|\bunlike\b|\bgave\b|\bgives?\b"
    r"|\bprints?\b|\bsays?\b|invented",
    r"scheiter|nicht|kein|falsch|statt|échou|\bpas\b|erreur|au lieu|falla|\bno\b|en lugar|errado"
    r"|não|falh|non |errore|invece|niet|fout|\bnie\b|błąd|не |ошибк|失敗|ない|エラー|不|没|错误"
    r"|실패|오류|않|değil|hata|başarısız",
)
"""A sentence that speaks of what went wrong."""

NEGATED = _any(
    r"\bnot\b|n't\b|n’t\b|\bnever\b|\bno\b|\bnone\b|\binstead\b|\brather than\b|\bwrong"
    r"|\binvented|\bformer",
    r"\bnicht\b|\bkein|\bstatt\b|\bpas\b|\bau lieu\b|\ben lugar\b|\bnão\b|\bnon\b|\binvece\b"
    r"|\bniet\b|\bgeen\b|\bnie\b|\bне\b|ない|ではなく|不|没|아니|않|değil",
)
"""A sentence that denies something."""

DENIED = _any(
    r"\binvented\b|\bno such\b|\bdoes(?: not|n't|n’t) exist\b|\bthere is no\b"
    r"|\bis (?:no|not an?) (?:valid |known |real )?(?:key|option|flag|setting|command|field)\b",
    r"\berfunden\b|\bgibt es nicht\b|\bn'existe pas\b|\bno existe\b|\bnão existe\b"
    r"|\bnon esiste\b|\bbestaat niet\b|\bnie istnieje\b|не существует|存在しない|不存在|없는",
)
"""A sentence that says that something is not there at all."""

UNVERIFIED = _any(
    r"unverified|not verified|not checked|unproven|not proved|nicht geprüft|ungeprüft"
    r"|non vérifié|no verificad|não verificad|non verificat|niet geverifieerd|niezweryfikowan"
    r"|не проверен|未確認|未验证|검증되지|확인되지|doğrulanma"
)
"""A heading or sentence that says so itself."""

NOT_VERIFIED = {
    "en": "(not verified)",
    "de": "(nicht geprüft)",
    "fr": "(non vérifié)",
    "es": "(no verificado)",
    "pt": "(não verificado)",
    "it": "(non verificato)",
    "nl": "(niet geverifieerd)",
    "pl": "(niezweryfikowane)",
    "ru": "(не проверено)",
    "ja": "(未確認)",
    "zh": "(未验证)",
    "ko": "(확인되지 않음)",
    "tr": "(doğrulanmadı)",
}

COUNTED = (
    r"(?:files?|issues?|warnings?|errors?|violations?|findings?|problems?|todos?|to-dos|tests?"
    r"|suites?|commits?|lines?|matches|occurrences|hits|plans?|tasks?|tickets?|sessions?|steps?"
    r"|packages?|modules?|folders?|directories|insertions|deletions|changes|runs|items?|entries"
    r"|Dateien|Fehler|Warnungen|Zeilen|Treffer|fichiers?|erreurs?|avertissements?|lignes?"
    r"|archivos?|errores|advertencias|líneas|arquivos|erros|avisos|linhas|file|errori|avvisi)"
)
"""Nouns that the counts of a day go with."""
