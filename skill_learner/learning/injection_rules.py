"""Patterns of text that gives orders to a later reader, sets traps, or bears our own markers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

Literals = tuple[str, ...]


@dataclass(frozen=True)
class Rule:
    """kind, reason: as in a finding. source: of the pattern. needs: of each group one stands, in
    whatever case, in every text that the pattern finds something in; most texts need no search by a
    slow pattern, and most processes none at all, so it is compiled when it is first asked for."""

    kind: str
    reason: str
    source: str
    needs: tuple[Literals, ...]

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        return re.compile(self.source, re.IGNORECASE | re.MULTILINE)

    def may_match(self, folded_text: str) -> bool:
        """Whether a search is worth while; False is certain."""
        for group in self.needs:  # plain loops: this runs ten times for every text that arrives
            for literal in group:
                if literal in folded_text:
                    break
            else:
                return False
        return True


def folded(text: str) -> str:
    """Equal for texts that a pattern which ignores case takes for equal."""
    if text.isascii():
        return text.lower()
    return text.casefold().replace("i\u0307", "i").replace("\u0131", "i")


_FETCH = r"(?:curl|wget|iwr|irm|Invoke-WebRequest|Invoke-RestMethod|aria2c)"
_SHELL = r"(?<![\w.])(?:sudo\s+(?:-\w+\s+){0,3})?(?:env\s+)?(?:/\w+/){0,3}(?:ba|z|da|k|fi)?sh\b"
_RUN = (
    rf"(?:{_SHELL}|(?:iex|Invoke-Expression|pwsh|osascript)\b"
    r"|(?:sudo\s+)?(?:python[\d.]*|node|perl|ruby|php)(?:\s+-)?\s*(?:$|[\"'`;&)\n]))"
)
_SECRET_PLACE = (
    r"(?:~/\.ssh|\.ssh/|id_(?:rsa|ed25519|ecdsa)|\.env\b|\.netrc|\.aws/|\.npmrc|\.pypirc"
    r"|\.git-credentials"
    r"|\.kube/config|/etc/(?:passwd|shadow)|credentials\.json|\.claude/|keychain|\.gnupg"
    r"|wallet\.dat)"
)
_SECRET_THING = (
    r"(?:api[ -]?keys?|access tokens?|auth(?:entication)? tokens?|tokens|credentials|secrets"
    r"|passwords"
    r"|environment variables|env(?:ironment)? vars|ssh keys?|private keys?|cookies|session data"
    r"|conversation(?: history)?|chat history|\.env(?: files?)?)"
)

RULES: tuple[Rule, ...] = tuple(
    Rule(
        kind,
        reason,
        source,
        tuple(tuple(folded(group).split(",")) for group in needs),
    )
    for kind, reason, needs, source in (
        (
            "prompt override",
            "orders the reader to drop its instructions",
            (
                "ignore,disregard,forget,override,bypass,discard,drop",
                "instruction,prompt,rules,guideline,direct,message,context,constraint,"
                "policies,guardrail",
            ),
            r"\b(?:ignore|disregard|forget|override|bypass|discard|drop)\s+(?:(?:all|any|every"
            r"|each|your|the|these|those|of|my|our)\s+){0,4}"
            r"(?:(?:previous|prior|above|earlier|preceding|foregoing|existing|original|system"
            r"|safety|current|other)\s+){1,3}"
            r"(?:instructions?|prompts?|rules|guidelines|directions|directives|messages?|context"
            r"|constraints|policies|guardrails)",
        ),
        (
            "prompt override",
            "orders the reader to drop its instructions",
            (
                "ignor,vergiss,missachte,oublie,olvid,игнор,забудь,negeer,忽略,无视,忘记,忽視,無視,忘れ,"
                "무시,잊,önceki,yukarıdaki",
            ),
            r"\b(?:ignorier(?:e|en)?|vergiss|missachte)\b.{0,30}\b(?:anweisungen|instruktionen"
            r"|regeln)\b"
            r"|\b(?:ignore[zr]?|oublie[zr]?)\b.{0,30}\binstructions\s+(?:précédentes|antérieures"
            r"|ci-dessus)"
            r"|\b(?:ignor[ae]n?|olvid[ae])\b.{0,30}\b(?:instrucciones|instruções"
            r"|istruzioni)\b.{0,12}"
            r"(?:anteriores|previas|precedenti|acima)?"
            r"|(?:игнорируй|игнорировать|забудь)\w*.{0,30}(?:инструкци|указани|правил)\w*"
            r"|(?:忽略|无视|忘记|忽視|無視)(?:掉|了)?"
            r"(?:所有|一切|全部|之前|以上|先前|前面|上述|上面|你|的|您){1,5}(?:指令|指示|提示词|提示"
            r"|规则|規則)"
            r"|(?:指示|命令|プロンプト|ルール)を?(?:すべて|全て)?(?:無視|忘れ)"
            r"|(?:이전|위의|모든).{0,10}(?:지시|명령|지침).{0,6}(?:무시|잊)"
            r"|(?:önceki|yukarıdaki).{0,20}(?:talimat|komut)\w*.{0,20}(?:yok say|unut|görmezden)"
            r"|zignoruj.{0,30}(?:instrukcje|polecenia)|negeer.{0,30}(?:instructies|aanwijzingen)",
        ),
        (
            "prompt override",
            "poses as a message of the system or gives the reader a new role",
            ("<|,inst],sys>>,system,developer>,assistant>,you are now",),
            r"<\|(?:im_start|im_end|system|endoftext|start_header_id)\|>|\[/?INST\]|<</?SYS>>"
            r"|</?(?:system|system-reminder|system_prompt|developer|assistant)>"
            r"|\byou are now (?:in )?(?:DAN\b|developer mode|jailbroken|unrestricted"
            r"|an? unrestricted|free of)"
            r"|\b(?:new|updated|real|actual) system prompt\s*:"
            r"|^\s{0,3}(?:#{1,4}\s*)?system (?:message|override)\s*:",
        ),
        (
            "prompt override",
            "wants something kept from the user",
            (
                "do not,don',don’,never,without",
                "tell,inform,mention,reveal,alert,notify,show,warn,disclos",
                "user,human,person,operator,developer",
            ),
            r"\b(?:do not|don['’]t|never|without)\s+(?:ever\s+)?(?:tell(?:ing)?|inform"
            r"(?:ing)?|mention(?:ing)?|reveal(?:ing)?|alert(?:ing)?|notify(?:ing)?|show"
            r"(?:ing)?|warn(?:ing)?|disclos(?:e|ing))\b"
            r"(?:\s+(?:this|it|that|about it|anything))?(?:\s+to)?\s+(?:the\s+)?(?:user|human"
            r"|person|operator|developer)\b"
            r"(?!-|\s+(?:to|that you|how|which|when|until|unless|raw|their|his))",
        ),
        (
            "prompt override",
            "tells a learner what to write into skills or memory",
            (
                "skill,memor,rule,claude.md",
                "add,include,insert,append,put,also write",
            ),
            r"\b(?:when|whenever|if|before|after)\s+(?:you\s+)?(?:are\s+)?(?:sav|writ|creat|learn"
            r"|stor|distil)\w*\s+(?:a\s+|any\s+|new\s+|these\s+)?(?:skills?|memor(?:y|ies)"
            r"|rules?)\b.{0,20}"
            r"\b(?:add|include|insert|append|put|also write)\b"
            r"|\b(?:add|include|insert|append)\b.{0,40}\b(?:to|in|into)\s+(?:every|all|each"
            r"|any)\s+(?:skills?|SKILL\.md|CLAUDE\.md|memor(?:y|ies))\b",
        ),
        (
            "fetch and run",
            "runs what it has just fetched from the network",
            (
                "curl,wget,iwr,irm,invoke-,aria2c,base64,downloadstring",
                "|,;,&&,<(,$(,`,iex,invoke-expression",
            ),
            rf"\b{_FETCH}\b[^\n|;]{{1,300}}\|\s*(?:tee\s[^\n|]{{1,80}}\|\s*)?{_RUN}"
            rf"|{_SHELL}[^\n|;]{{0,30}}(?:<\(|\$\(|`)\s*{_FETCH}\b"
            rf"|\b(?:eval|source|\.)\s+[\"']?(?:<\(|\$\(|`)\s*{_FETCH}\b"
            rf"|\b(?:iex|Invoke-Expression)\b[^\n]{{0,40}}(?:{_FETCH}\b|DownloadString)"
            r"|DownloadString\([^\n)]{1,200}\)[^\n|]{0,20}\|\s*(?:iex|Invoke-Expression)"
            rf"|\bbase64\s+(?:-d|-D|--decode)\b[^\n|;]{{0,80}}\|\s*{_RUN}"
            rf"|\b{_FETCH}\b[^\n]{{1,200}}(?:&&|;)\s*(?:sudo\s+)?(?:chmod\s+(?:\+x|7\d\d)|(?:ba"
            rf"|z)?sh\s+(?!-c)[\w./-]+)",
        ),
        (
            "exfiltration",
            "sends secrets away",
            (
                "curl,wget,invoke-,nc,netcat,scp,rsync,ftp,nslookup,dig,ping",
                "|,$(,`,.ssh,id_,.env,.netrc,.aws/,.npmrc,.pypirc,.git-credentials,.kube/,"
                "/etc/,credentials.json,.claude/,keychain,.gnupg,wallet.dat",
            ),
            rf"\b(?:nc|ncat|netcat|scp|rsync|ftp)\b[^\n]{{0,200}}{_SECRET_PLACE}"
            r"|\b(?:curl|wget|Invoke-\w+)\b[^\n]{0,200}(?:\s-[dFT]|--data|--upload|--post|-InFile"
            rf"|-Body)[^\n]{{0,120}}{_SECRET_PLACE}"
            rf"|{_SECRET_PLACE}[^\n]{{0,60}}\|\s*(?:base64[^\n|]{{0,20}}\|\s*)?(?:curl|wget|nc"
            rf"|ncat|netcat)\b"
            r"|\b(?:env|printenv|set|history)\s*(?:\|[^\n|]{0,40}){0,2}\|\s*(?:curl|wget|nc|ncat)\b"
            r"|\b(?:curl|wget)\b[^\n]{0,200}(?:-d|--data\S*|-F|-T|--post-data)[^\n]{0,40}"
            r"(?:\$\(\s*(?:cat|env|printenv|base64)|`(?:cat|env|printenv))"
            r"|\b(?:nslookup|dig|ping)\b[^\n]{0,60}\$\([^\n)]{1,80}\)\.[\w.-]+",
        ),
        (
            "exfiltration",
            "asks to send secrets away",
            (
                "http,@,webhook,server,endpoint",
                "](http,api,token,credential,secret,password,env,ssh key,private key,cookie,"
                "session data,conversation,chat history,.ssh,id_,.netrc,.aws/,.npmrc,.pypirc,"
                "/etc/,.kube/,.claude/,keychain,.gnupg,wallet.dat",
            ),
            rf"\b(?:send|post|upload|exfiltrate|forward|e-?mail|leak|transmit|report|submit"
            rf"|copy)\b(?:\s+\w+){{0,3}}\s+{_SECRET_THING}\s+(?:\w+\s+){{0,4}}(?:to|at)\s+\S*"
            rf"(?:https?://|@\w|webhook|server|endpoint)"
            rf"|\b(?:send|post|upload|exfiltrate|forward|e-?mail|leak|transmit)\b[^\n]{{0,60}}"
            rf"{_SECRET_PLACE}[^\n]{{0,40}}\bto\s+(?:https?://|\S{{1,40}}@\w)"
            rf"|!\[[^\]\n]{{0,80}}\]\(https?://[^)\s]{{0,200}}[?&][\w-]+=[^)\s]{{0,40}}(?:\{{|\$"
            rf"|<)[^)\s]{{0,40}}(?:token|secret|key|env|data|history)",
        ),
        (
            "our own markers",
            "holds the marker of a block that only skill-learner writes",
            ("skill-learner,session-digest,existing-skill,hints",),
            r"<!--\s*/?\s*(?:begin\s+|end\s+)?skill-learner\b"
            r"|</?(?:session-digest|existing-skill|hints)(?:-[0-9a-f]{4,64})?>",
        ),
        (
            "our own prompt",
            "repeats or addresses skill-learner's own review",
            (
                "submit_review,nothing_because,skill-learner,skill reviewer,session reviewer,"
                "reviewer of coding",
            ),
            r"\bsubmit_review\b|\bnothing_because\b"
            r"|\b(?:skill-learner|skill reviewer|session reviewer)\b[^\n]{0,40}\b(?:must|shall"
            r"|should|always|is instructed)\b"
            r"|\breviewer of coding sessions that are over\b",
        ),
    )
)
