"""How people correct, command and ask, in thirteen languages. Data only: regular expressions,
matched without regard to case against a single sentence or a whole message.

Each phrase must be strong enough alone. Weak words (still, always, again, no) do not stand alone.
"""

from __future__ import annotations

CORRECTION: dict[str, tuple[str, ...]] = {
    "en": (
        r"\bthat(?:'s| is|’s) (?:not|wrong|incorrect|false)|\b(?:this|it) is (?:wrong|incorrect|not (?:right|correct|true|what))",
        r"\byou(?:'re| are|’re) wrong|\byou (?:were|got (?:it|that)) wrong|\bnot what i (?:asked|meant|wanted|said)",
        r"\b(?:is|are|was|were|does|do|did)(?:n't|n’t| not) (?:work|fixed|true|correct|right|done|resolved|gone)",
        r"\bstill (?:there|failing|fails?|failed|broken|wrong|not|get|getting|see|seeing|shows?|happens?|happening|the same|red|missing|crash\w*|errors?|warns?|have|has)",
        r"\b(?:doesn|didn|don)['’]?t (?:work|do that|use|add|change|touch|remove|delete|commit|push|run|guess|invent)",
        r"\bstop (?:doing|using|adding|changing|running|guessing)|\byou should(?:n't|n’t| not| never) have",
        r"\b(?:did|have) you (?:just )?(?:made?|invent(?:ed)?|make) (?:it|that|this) up|\bthere is no (?:such|\S+ thing)",
        r"^(?:no|nope|wrong|nah)[,.!;:—–-]\s*\S+\s+\S+|\bi (?:already )?(?:told|said) you\b|\bi said\b",
        r"\buse \S+ (?:instead|rather)|\binstead of (?:that|this|using)|\bundo (?:that|this|it)\b|\brevert (?:that|this|it|your)",
        r"\bthis (?:broke|breaks)|\byou (?:broke|forgot|missed|ignored|misunderstood|misread)",
    ),
    "de": (
        r"\bdas (?:stimmt (?:so )?nicht|ist (?:falsch|nicht (?:richtig|wahr|korrekt|das))|war (?:falsch|nicht))",
        r"\b(?:geht|funktioniert|klappt|läuft|passt) (?:immer noch |noch immer |so |leider |aber )?nicht\b",
        r"\b(?:immer noch|noch immer) (?:da|rot|kaputt|nicht|falsch|der|die|das|ein\w*|fehler\w*)",
        r"^(?:nein|nee|falsch)[,.!;:]\s*\S+\s+\S+|\bso nicht\b|\bdu (?:hast|solltest) .{0,40}(?:vergessen|übersehen|nicht|falsch)",
        r"\bich (?:habe|hab) (?:doch |dir )?(?:schon )?gesagt|\bnicht,? was ich (?:wollte|meinte|gesagt)",
        r"\b(?:nimm|benutze?|verwende) (?:stattdessen|lieber)|\bmach das rückgängig|\bhör auf\b|\bausgedacht\b|\berfunden\b",
    ),
    "fr": (
        r"\bc['’]est (?:faux|incorrect|pas (?:bon|ça|correct|vrai))|\bce n['’]est pas (?:bon|ça|correct|vrai|ce que)",
        r"\b(?:ne )?(?:marche|fonctionne) (?:toujours )?pas\b|\btoujours (?:là|pas|cassé|rouge|en échec|la même|les mêmes)",
        r"^non[,.!;:]\s*\S+\s+\S+|\btu (?:as|t['’]es) (?:oublié|tort|trompé|cassé|inventé)|\bj['’]ai (?:déjà )?dit",
        r"\butilise plutôt|\bau lieu de (?:ça|cela)|\barrête de|\bannule (?:ça|cela)|\bpas ce que j['’]ai demandé",
    ),
    "es": (
        r"\b(?:eso|esto) (?:no es|es (?:incorrecto|falso)|está mal)|\bestá mal\b|\bno es (?:correcto|verdad|eso|lo que)",
        r"\b(?:todavía|aún) (?:no|falla|está|sigue|hay)|\bsigue (?:fallando|igual|sin|roto|ahí)|\b(?:no|sin) (?:funciona|sirve)\b",
        r"^no[,.!;:]\s*\S+\s+\S+|\bte (?:equivocaste|equivocas|olvidaste)|\bya te (?:dije|he dicho)|\bte lo inventaste",
        r"\b(?:usa|utiliza) .{1,40} en (?:su|vez|lugar)|\ben lugar de eso|\bdeja de\b|\bdeshaz (?:eso|esto)|\bno lo que (?:pedí|quería)",
    ),
    "pt": (
        r"\b(?:isso|isto) (?:não (?:é|está)|está (?:errado|incorreto))|\bestá errado\b|\bnão (?:é|foi) (?:isso|o que|verdade|correto)",
        r"\b(?:ainda|continua) (?:não|falha\w*|está|quebrado|com|dando|lá)|\bnão (?:funciona|funcionou)\b",
        r"^não[,.!;:]\s*\S+\s+\S+|\bvocê (?:errou|esqueceu|inventou|quebrou)|\beu (?:já )?(?:disse|falei)",
        r"\b(?:use|usa|utilize) .{1,40} em vez|\bem vez disso|\bpare de\b|\bdesfaça\b",
    ),
    "it": (
        r"\b(?:non è|è) (?:sbagliato|corretto|vero|giusto|errato)|\bè sbagliato\b|\bnon è (?:così|quello|ciò)",
        r"\b(?:ancora|sempre) (?:non|lì|rotto|rosso|errori|lo stesso|fallisc\w*)|\bnon (?:funziona|va bene)\b",
        r"^no[,.!;:]\s*\S+\s+\S+|\bhai (?:sbagliato|dimenticato|inventato|rotto)|\bti (?:ho|avevo) detto|\bte l['’]ho detto",
        r"\busa .{1,40} invece|\binvece di (?:questo|quello)|\bsmetti(?:la)? di|\bannulla (?:questo|quello)",
    ),
    "nl": (
        r"\b(?:dat|dit) (?:klopt niet|is (?:fout|onjuist|niet (?:juist|goed|waar|wat)))|\bwerkt (?:nog steeds |nog )?niet\b",
        r"\bnog steeds (?:niet|fout|kapot|daar|rood|een|de|dezelfde)|^nee[,.!;:]\s*\S+\s+\S+",
        r"\bje (?:hebt|bent) .{0,30}(?:vergeten|verzonnen|fout|mis)|\bik (?:heb|had) (?:toch |al )?gezegd",
        r"\bgebruik .{1,40} in plaats|\bin plaats daarvan|\bstop met\b|\bdraai dat terug|\bniet wat ik (?:vroeg|bedoelde)",
    ),
    "pl": (
        r"\bto (?:nie (?:jest|działa|tak)|jest (?:źle|błędne|nieprawda))|\bnie działa\b|\bnieprawda\b",
        r"\b(?:nadal|wciąż|dalej) (?:nie|jest|są|błąd|błędy|nie działa)|^nie[,.!;:]\s*\S+\s+\S+",
        r"\b(?:zapomniałeś|pomyliłeś|wymyśliłeś|zepsułeś)|\b(?:mówiłem|mówiłam|powiedziałem|powiedziałam)\b",
        r"\bużyj .{1,40} zamiast|\bzamiast tego|\bprzestań\b|\bcofnij to|\bnie to,? co",
    ),
    "ru": (
        r"это (?:не (?:так|то|работает|верно|правда)|неверно|неправильно|ошибка)|не работает|неправда",
        r"(?:всё|все) (?:ещё|еще|равно) (?:не|есть|падает|ошибк\w*|там)|по-прежнему|^нет[,.!;:]\s*\S+\s+\S+",
        r"\bты (?:забыл|ошиб\w+|придумал|сломал)|вы (?:забыли|ошиблись|придумали)|я (?:же )?(?:говорил|сказал)\w*",
        r"используй .{1,40} вместо|вместо этого|перестань|отмени (?:это|изменени\w+)|не то,? что я",
    ),
    "ja": (
        r"違います|違う[。!！、よ]|間違(?:い|って|え)|正しくな|そうじゃな|そうではな",
        r"まだ(?:直って|動か|動い|エラー|失敗|残って|出(?:て|ます|る)|治って)|動きません|動かない|動作しな",
        r"(?:代わりに|かわりに).{1,40}(?:使って|してくだ)|やめて(?:ください)?|元に戻して|と言った(?:はず|でしょ)|頼んでいな|勝手に",
    ),
    "zh": (
        r"不对|不是这样|错了|(?:这|那)(?:是|样)?(?:不对|错的|不行|不正确)|不正确|弄错",
        r"(?:还是|仍然|依然)(?:不行|不能|有|报错|失败|没|存在|一样|这样)|(?:没有|没)(?:解决|修好|生效)|不起作用|不工作",
        r"(?:不要|别)(?:再|用|改|动|删|加|提交|瞎)|改用|(?:应该|请)用.{1,30}(?:而不是|代替)|我(?:说过|已经说)|你(?:忘了|漏了|编的|搞错)|撤销",
    ),
    "ko": (
        r"틀렸|아니(?:요|에요|야)?[,. ]+\S+|그게 아니|잘못(?:됐|되었|했|된)|맞지 않",
        r"(?:아직|여전히|계속)(?:도)? ?(?:안|에러|오류|실패|남아|있|나와|나옵|그대로)|(?:작동|동작)(?:하지|이) ?(?:않|안)|안 (?:돼|됩|되)",
        r"대신(?:에)? .{1,40}(?:사용|써)|하지 ?마(?:세요)?|되돌려|말했잖|말씀드렸|지어낸",
    ),
    "tr": (
        r"\bbu (?:yanlış|doğru değil|hatalı)|\byanlış(?:sın|tı)?\b|\bdoğru değil|\bçalışmıyor\b|\bolmadı\b",
        r"\b(?:hâlâ|hala|halen) (?:çalışm\w+|hata\w*|var|aynı|orada|başarısız|bozuk)|^hayır[,.!;:]\s*\S+\s+\S+",
        r"\b(?:unuttun|yanıldın|uydurdun|bozdun)|\b(?:söyledim|demiştim)\b|\byerine .{1,40}(?:kullan)|\bbunun yerine|\bgeri al\b|\byapma\b",
    ),
}

_TO_YOU = (
    r"(?:^|[.!?:;,\n]\s*|\b(?:please|pls|and|then|also|so|just|but|ok|okay) "
    r"|\byou (?:should|must|need to|have to|can) (?:always )?|\bwant you to |\b(?:can|could|will|would) you (?:please )?)"
)
"""Where an English order to the agent begins."""

REMEMBER: dict[str, tuple[str, ...]] = {
    "en": (
        # to the agent, not of a program that is to remember something ("a remember me checkbox")
        rf"{_TO_YOU}(?:remember|memorize)(?:\s*[:,–—-]|\s*[.!]?$| (?:that|this|it|these|those|to|for|all|always|never|not|we|i|you|our|please)\b"
        r"| the \S+(?: \S+){0,5} (?:is|are|was|lives?|has|have|must|needs?|uses?|should|can|runs?|takes?|wants?|goes|belongs?)\b)",
        rf"{_TO_YOU}(?:keep (?:that|this|it )?in mind|don['’]?t forget|make a note)(?:\s*[:,–—-]|\s*[.!]?$| (?:that|this|it|of|for)\b)|\bnote for (?:the future|next time)\b",
        r"\bfrom now on\b|\bfor (?:all )?future (?:sessions|work|changes)\b|(?:^|[.!?:;\n]\s*)for (?:all )?future reference\b|\bgoing forward\b|\bin (?:the )?future,? (?:always|never|use|run|do|please)",
        r"(?:^|[.!?\n,;:]\s*|\bplease |\band |\bwe |\byou (?:must |should |need to )?)(?:always|never) (?:use|run|do|write|put|call|add|commit|push|start|check|test|build|ask|prefer|name|keep|format|create|edit|touch|change|install|set|include|import|skip|delete|open)\b",
        r"\bsave (?:this|that|it) as a skill|\b(?:add|save|write) (?:this|that|it) (?:to|in(?:to)?) (?:your )?(?:memory|claude\.md|the skills?)",
    ),
    "de": (
        r"\bmerk(?:e)? dir\b|\bbitte merken\b|\bvergiss (?:das )?nicht\b|\bdenk(?:e)? (?:in zukunft |künftig |immer )?daran\b",
        r"\bab (?:jetzt|sofort|heute)\b|\bvon (?:jetzt|nun) an\b"
        r"|(?:^|[.!?:;\n]\s*|\bbitte )(?:in zukunft|zukünftig|künftig)\b|\b(?:in zukunft|zukünftig|künftig) (?:bitte|immer|nie)\b",
        r"\b(?:benutze?|verwende|nimm|nutze|führe|schreibe?|mach(?:e)?|starte|teste|baue) (?:hier |bitte |dafür |dazu )?(?:immer|nie(?:mals)?|stets)\b|\bimmer \S+(?: \S+){0,4} (?:verwenden|benutzen|nutzen|nehmen|ausführen|starten)\b",
    ),
    "fr": (
        r"\b(?:souviens-toi|rappelle-toi|retiens|mémorise|n['’]oublie pas|garde (?:ça )?en mémoire|notez bien|souvenez-vous|retenez)\b",
        r"\b(?:à partir de maintenant|désormais|dorénavant)\b|(?:^|[.!?:;\n]\s*)à l['’]avenir\b",
        r"\b(?:utilise|lance|fais|emploie|écris|utilisez|lancez|exécute)r? (?:toujours|jamais)\b|\bn['’](?:utilise|écris|exécute)z? jamais\b|\bne (?:lance|fais|modifie|touche)z? jamais\b",
    ),
    "es": (
        r"(?:^|[.!?:;,\n]\s*|\bpor favor )(?:recuerda|memoriza)\b|\b(?:recuérdalo|acuérdate|no olvides|ten en cuenta para)\b",
        r"\b(?:de ahora en adelante|a partir de ahora|desde ahora)\b|(?:^|[.!?:;\n]\s*)(?:en (?:el )?futuro|en adelante)\b",
        r"\b(?:usa|utiliza|ejecuta|haz|escribe|pon|corre) siempre\b|\bsiempre (?:usa|utiliza|ejecuta|haz|escribe|pon)\b|\bnunca (?:uses|ejecutes|hagas|toques|cambies|escribas)\b",
    ),
    "pt": (
        r"\b(?:lembre-se|lembra-te|lembre disso|memorize|não (?:se )?esqueça|guarde isso)\b",
        r"\b(?:de agora em diante|a partir de agora|daqui (?:para a|em) (?:frente|diante))\b|(?:^|[.!?:;\n]\s*)no futuro\b",
        r"\b(?:use|usa|utilize|execute|faça|rode|escreva) sempre\b|\bsempre (?:use|usa|utilize|execute|faça|rode|escreva)\b|\bnunca (?:use|execute|faça|mude|altere|rode)\b",
    ),
    "it": (
        r"(?:^|[.!?:;,\n]\s*|\bper favore )(?:ricorda|memorizza)\b|\b(?:ricordati|non dimenticare|tieni a mente)\b",
        r"\b(?:d['’]ora in poi|da ora in poi|da adesso in poi|per il futuro)\b|(?:^|[.!?:;\n]\s*)in futuro\b",
        r"\b(?:usa|utilizza|esegui|fai|scrivi|lancia) sempre\b|\b(?:usa|utilizza) .{1,40} sempre\b|\bnon (?:usare|eseguire|toccare|modificare) mai\b",
    ),
    "nl": (
        r"\b(?:onthoud|vergeet niet|houd in gedachten)\b",
        r"\b(?:vanaf nu|voortaan|van nu af aan)\b|(?:^|[.!?:;\n]\s*)in de toekomst\b",
        r"\b(?:gebruik|draai|doe|schrijf|start|test) (?:hier )?(?:altijd|nooit)\b",
    ),
    "pl": (
        r"\b(?:zapamiętaj|pamiętaj|nie zapomnij)\b",
        r"\b(?:od teraz|od tej pory|na przyszłość|odtąd)\b|(?:^|[.!?:;\n]\s*)w przyszłości\b",
        r"\b(?:zawsze (?:używaj|uruchamiaj|rób|pisz)|używaj zawsze|nigdy nie (?:używaj|uruchamiaj|zmieniaj|rób))\b",
    ),
    "ru": (
        r"\b(?:запомни(?:те)?|не забуд(?:ь|ьте)|имей(?:те)? в виду)\b(?! меня)",
        r"(?:с этого момента|отныне|в дальнейшем|на будущее|впредь|теперь всегда)",
        r"(?:всегда (?:используй|запускай|делай|пиши|ставь)|используй(?:те)? всегда|никогда не (?:используй|запускай|трогай|меняй|делай))",
    ),
    "ja": (
        r"覚えて(?:おいて|ください|て)|忘れないで|メモして(?:おいて)?",
        r"(?:今後|これから|これ以降|以後|次回から)(?:は|も|、|必ず|常に)?",
        r"(?:常に|必ず|いつも).{1,60}(?:使って|使う(?:こと|ように)|してください|実行して|するように)|(?:絶対に|決して).{1,60}(?:しないで|使わないで)",
    ),
    "zh": (
        r"(?:请)?记住(?!我|密码|用户|登录|登陆)|记下来|别忘了|不要忘记|牢记",
        r"从现在(?:开始|起)|以后(?:都|请|要|必须|一律)?|今后|往后",
        r"(?:总是|始终|务必|必须一直|永远)(?:使用|用|要|运行|执行)|(?:永远|绝)(?:不要|别|不能)|一律(?:使用|用)",
    ),
    "ko": (
        r"기억해|잊지 ?마|기억하(?:세요|십시오|고)|메모해",
        r"(?:지금부터|이제부터|앞으로|다음부터)(?:는)?",
        r"(?:항상|언제나|반드시).{1,60}(?:사용|써|실행|해 ?주세요|하세요|해라|해줘)|절대(?:로)? .{1,60}(?:하지 ?마|마세요|쓰지)",
    ),
    "tr": (
        r"(?<!beni )\b(?:unutma|hatırla|aklında tut|not al|bunu kaydet)\b",
        r"\b(?:bundan (?:sonra|böyle)|şu andan itibaren|artık hep|gelecekte)\b",
        r"\b(?:her zaman|daima|hep) .{1,60}(?:kullan|çalıştır|yap|yaz)\w*|\basla .{1,60}(?:kullanma|yapma|değiştirme|dokunma|çalıştırma)",
    ),
}

ASKING: dict[str, tuple[str, ...]] = {
    "en": (
        r"\bhow (?:do|can|could|should|would|to)\b|\bcan you (?:find|fix|remove|delete|get|make|show|figure)",
        r"\b(?:unable|not able|can['’]?t|cannot|impossible) (?:to )?\w+|\bis there (?:a|any) way\b|\bwhat(?:'s| is) the (?:command|way)\b",
    ),
    "de": (
        r"\bwie (?:kann|bekomme|mache|lösche|geht|macht man|krieg)|\b(?:lässt sich nicht|kann .{0,40}nicht)\b",
    ),
    "fr": (
        r"\bcomment (?:faire|je|puis|on|supprimer)|\bimpossible (?:de|à)|\bn['’]arrive pas à|\bpeux-tu\b",
    ),
    "es": (r"\bcómo (?:puedo|se|hago|elimino|podría)|\bno (?:puedo|consigo|logro)\b|\bpuedes\b",),
    "pt": (
        r"\bcomo (?:posso|eu|faço|se|remover|fazer)|\bnão (?:consigo|posso)\b|\b(?:você )?pode\b",
    ),
    "it": (r"\bcome (?:posso|si|faccio|fare|elimino)|\bnon riesco a\b|\bpuoi\b",),
    "nl": (r"\bhoe (?:kan|moet|doe|krijg|verwijder)|\blukt (?:me )?niet\b|\bkun je\b",),
    "pl": (r"\bjak (?:mogę|można|zrobić|usunąć)|\bnie (?:mogę|da się|udaje)\b|\bczy możesz\b",),
    "ru": (r"как (?:мне|можно|сделать|удалить|это)|не (?:могу|получается|удаётся|удается)|можешь",),
    "ja": (r"どう(?:やって|すれば|したら)|方法|できません|できない|消せない|削除でき|してくれ",),
    "zh": (r"怎么|如何|怎样|无法|不能|删不掉|能不能|可以帮",),
    "ko": (r"어떻게|방법|안 ?되|없(?:어요|습니다)|수 ?없|해 ?줄 수",),
    "tr": (
        r"\bnasıl\b|\b(?:silemiyorum|yapamıyorum|olmuyor)\b|\b(?:yapabilir|silebilir|bulabilir) misin",
    ),
}

POINTING: dict[str, frozenset[str]] = {
    "en": frozenset(
        "this that it these those all everything one thing lesson fix solution trick way how skill skills note memory session sessions later next time future again too also so now just ok okay well done good great perfect nice thanks thank please would could us me we your as a an the to of for in and you i".split()
    ),
    "de": frozenset(
        "das dies diese dieses diesen es alles lösung trick weg fähigkeit skill notiz sitzung sitzungen später nächste nächstes nächsten mal zukunft auch doch gut super prima danke dir mir uns".split()
    ),
    "fr": frozenset(
        "ceci cela ça cette tout solution astuce leçon compétence skill note session sessions prochaine fois plus tard aussi bien merci parfait bon toi moi s il te vous plaît".split()
    ),
    "es": frozenset(
        "esto eso esta este ello todo solución truco lección habilidad skill nota sesión sesiones próxima vez después también bien gracias perfecto favor".split()
    ),
    "pt": frozenset(
        "isto isso esta este tudo solução truque lição habilidade skill nota sessão sessões próxima vez depois também bem obrigado obrigada perfeito favor".split()
    ),
    "it": frozenset(
        "questo questa ciò quello tutto soluzione trucco lezione skill nota sessione sessioni prossima volta dopo anche bene grazie perfetto favore".split()
    ),
    "nl": frozenset(
        "dit dat deze alles oplossing truc les skill notitie sessie sessies volgende keer later ook goed bedankt dank alsjeblieft graag even".split()
    ),
    "pl": frozenset(
        "to tego ten wszystko rozwiązanie sposób lekcja skill notatka sesja sesje następny raz później też dobrze dzięki dziękuję proszę".split()
    ),
    "ru": frozenset(
        "это этот эту всё все решение способ урок навык заметка сессия сессии следующий раз потом тоже хорошо спасибо пожалуйста на".split()
    ),
    "tr": frozenset(
        "bunu şunu onu bu hepsini çözüm yöntem ders beceri not oturum sonraki sefer sonra da iyi teşekkürler lütfen".split()
    ),
}
"""Words that say nothing about what is to be remembered: they point at what was said or done."""

POINTING_WIDE = (
    r"これ|それ|この|その|こと|方法|解決策|ください|お願い(?:します)?|次回|スキル|として|ありがとう|ね|よ|を|は|も|に"
    r"|这个|那个|这|那|它|一下|请|吧|方法|教训|技能|下次|谢谢|作为"
    r"|이것|그것|이거|그거|이걸|그걸|방법|주세요|줘|다음에|스킬|고마워|감사합니다"
)
"""The same, for languages that are written without spaces between such words."""

STOP_WORDS: dict[str, frozenset[str]] = {
    "en": frozenset(
        "the is are was to of and in that it this you for not with be have i my can please when what".split()
    ),
    "de": frozenset(
        "der die das ist nicht und ich du ein eine es zu mit auf für bitte wie noch immer dass den dem im".split()
    ),
    "fr": frozenset(
        "le la les est pas et je tu un une des ce que pour dans avec ne il sur du au toujours".split()
    ),
    "es": frozenset(
        "el la los las es no y que en un una de por para con se esto eso siempre lo del al está".split()
    ),
    "pt": frozenset(
        "o a os as é não e que em um uma de por para com se isso isto sempre do da no na está você".split()
    ),
    "it": frozenset(
        "il lo la gli le è non e che in un una di per con si questo sempre del della ho hai sono".split()
    ),
    "nl": frozenset(
        "de het een is niet en ik je van voor met op dat dit te in ook nog altijd wat aan".split()
    ),
    "pl": frozenset(
        "nie jest to i w na z się że do jak co tego po ale czy przez zawsze jeszcze ten".split()
    ),
    "tr": frozenset(
        "bir bu ve için değil ile de da ne çok olarak her zaman hâlâ ama şu var yok gibi".split()
    ),
}
"""For languages in Latin script; the others are told by their script."""
