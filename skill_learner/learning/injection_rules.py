"""Patterns of text that gives orders to a later reader, sets traps, or bears our own markers.

Of each way: its pattern, and the literals of which one stands wherever it matches, group by group.
"""

from __future__ import annotations

from skill_learner.learning.rule_ways import Rule, RuleBook, Way, folded

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
_FETCH_WORDS = "curl,wget,iwr,irm,invoke-,aria2c"
_SECRET_PLACES = (
    ".ssh,id_rsa,id_ed25519,id_ecdsa,.env,.netrc,.aws/,.npmrc,.pypirc,.git-credentials,"
    ".kube/config,/etc/passwd,/etc/shadow,credentials.json,.claude/,keychain,.gnupg,wallet.dat"
)

_RULES = tuple(
    Rule(
        kind,
        reason,
        tuple(
            Way(source, tuple(tuple(folded(group).split(",")) for group in needs))
            for source, *needs in ways
        ),
    )
    for kind, reason, *ways in (
        (
            "prompt override",
            "orders the reader to drop its instructions",
            (
                r"\b(?:ignore|disregard|forget|override|bypass|discard|drop)\s+(?:(?:all|any|every"
                r"|each|your|the|these|those|of|my|our)\s+){0,4}"
                r"(?:(?:previous|prior|above|earlier|preceding|foregoing|existing|original|system"
                r"|safety|current|other)\s+){1,3}"
                r"(?:instructions?|prompts?|rules|guidelines|directions|directives|messages?"
                r"|context|constraints|policies|guardrails)",
                "ignore,disregard,forget,override,bypass,discard,drop",
                "instruction,prompt,rules,guideline,direct,message,context,constraint,"
                "policies,guardrail",
            ),
        ),
        (
            "prompt override",
            "orders the reader to drop its instructions",
            (
                r"\b(?:ignorier(?:e|en)?|vergiss|missachte)\b.{0,30}\b(?:anweisungen|instruktionen"
                r"|regeln)\b",
                "ignorier,vergiss,missachte",
                "anweisungen,instruktionen,regeln",
            ),
            (
                r"\b(?:ignore[zr]?|oublie[zr]?)\b.{0,30}\binstructions\s+(?:précédentes"
                r"|antérieures|ci-dessus)",
                "ignore,oublie",
                "précédentes,antérieures,ci-dessus",
            ),
            (
                r"\b(?:ignor[ae]n?|olvid[ae])\b.{0,30}\b(?:instrucciones|instruções"
                r"|istruzioni)\b.{0,12}(?:anteriores|previas|precedenti|acima)?",
                "ignor,olvid",
                "instrucciones,instruções,istruzioni",
            ),
            (
                r"(?:игнорируй|игнорировать|забудь)\w*.{0,30}(?:инструкци|указани|правил)\w*"
                r"|(?:忽略|无视|忘记|忽視|無視)(?:掉|了)?"
                r"(?:所有|一切|全部|之前|以上|先前|前面|上述|上面|你|的|您){1,5}(?:指令|指示|提示词"
                r"|提示|规则|規則)"
                r"|(?:指示|命令|プロンプト|ルール)を?(?:すべて|全て)?(?:無視|忘れ)"
                r"|(?:이전|위의|모든).{0,10}(?:지시|명령|지침).{0,6}(?:무시|잊)"
                r"|(?:önceki|yukarıdaki).{0,20}(?:talimat|komut)\w*.{0,20}(?:yok say|unut"
                r"|görmezden)"
                r"|zignoruj.{0,30}(?:instrukcje|polecenia)"
                r"|negeer.{0,30}(?:instructies|aanwijzingen)",
                "игнор,забудь,忽略,无视,忘记,忽視,無視,忘れ,무시,잊,önceki,yukarıdaki,zignoruj,negeer",
            ),
        ),
        (
            "prompt override",
            "poses as a message of the system or gives the reader a new role",
            (
                r"<\|(?:im_start|im_end|system|endoftext|start_header_id)\|>|\[/?INST\]|<</?SYS>>"
                r"|</?(?:system|system-reminder|system_prompt|developer|assistant)>",
                "<|,inst],sys>>,system>,-reminder>,_prompt>,developer>,assistant>",
            ),
            (
                r"\byou are now (?:in )?(?:DAN\b|developer mode|jailbroken|unrestricted"
                r"|an? unrestricted|free of)",
                "you are now",
            ),
            (r"\b(?:new|updated|real|actual) system prompt\s*:", "system prompt"),
            (
                r"^\s{0,3}(?:#{1,4}\s*)?system (?:message|override)\s*:",
                "system message,system override",
            ),
        ),
        (
            "prompt override",
            "wants something kept from the user",
            (
                r"\b(?:do not|don['’]t|never|without)\s+(?:ever\s+)?(?:tell(?:ing)?|inform"
                r"(?:ing)?|mention(?:ing)?|reveal(?:ing)?|alert(?:ing)?|notify(?:ing)?|show"
                r"(?:ing)?|warn(?:ing)?|disclos(?:e|ing))\b"
                r"(?:\s+(?:this|it|that|about it|anything))?(?:\s+to)?\s+(?:the\s+)?(?:user|human"
                r"|person|operator|developer)\b"
                r"(?!-|\s+(?:to|that you|how|which|when|until|unless|raw|their|his))",
                "do not,don',don’,never,without",
                "tell,inform,mention,reveal,alert,notify,show,warn,disclos",
                "user,human,person,operator,developer",
            ),
        ),
        (
            "prompt override",
            "tells a learner what to write into skills or memory",
            (
                r"\b(?:when|whenever|if|before|after)\s+(?:you\s+)?(?:are\s+)?(?:sav|writ|creat"
                r"|learn|stor|distil)\w*\s+(?:a\s+|any\s+|new\s+|these\s+)?(?:skills?"
                r"|memor(?:y|ies)|rules?)\b.{0,20}"
                r"\b(?:add|include|insert|append|put|also write)\b",
                "skill,memor,rule",
                "add,include,insert,append,put,also write",
            ),
            (
                r"\b(?:add|include|insert|append)\b.{0,40}\b(?:to|in|into)\s+(?:every|all|each"
                r"|any)\s+(?:skills?|SKILL\.md|CLAUDE\.md|memor(?:y|ies))\b",
                "skill,memor,claude.md",
                "add,include,insert,append",
            ),
        ),
        (
            "fetch and run",
            "runs what it has just fetched from the network",
            (
                rf"\b{_FETCH}\b[^\n|;]{{1,300}}\|\s*(?:tee\s[^\n|]{{1,80}}\|\s*)?{_RUN}",
                _FETCH_WORDS,
                "|",
            ),
            (
                rf"{_SHELL}[^\n|;]{{0,30}}(?:<\(|\$\(|`)\s*{_FETCH}\b"
                rf"|\b(?:eval|source|\.)\s+[\"']?(?:<\(|\$\(|`)\s*{_FETCH}\b",
                _FETCH_WORDS,
                "<(,$(,`",
            ),
            (
                rf"\b(?:iex|Invoke-Expression)\b[^\n]{{0,40}}(?:{_FETCH}\b|DownloadString)",
                f"{_FETCH_WORDS},downloadstring",
                "iex,invoke-expression",
            ),
            (
                r"DownloadString\([^\n)]{1,200}\)[^\n|]{0,20}\|\s*(?:iex|Invoke-Expression)",
                "downloadstring",
                "iex,invoke-expression",
            ),
            (
                rf"\bbase64\s+(?:-d|-D|--decode)\b[^\n|;]{{0,80}}\|\s*{_RUN}",
                "base64",
                "|",
            ),
            (
                rf"\b{_FETCH}\b[^\n]{{1,200}}(?:&&|;)\s*(?:sudo\s+)?(?:chmod\s+(?:\+x|7\d\d)"
                r"|(?:ba|z)?sh\s+(?!-c)[\w./-]+)",
                _FETCH_WORDS,
                "&&,;",
            ),
        ),
        (
            "exfiltration",
            "sends secrets away",
            (
                rf"\b(?:nc|ncat|netcat|scp|rsync|ftp)\b[^\n]{{0,200}}{_SECRET_PLACE}",
                _SECRET_PLACES,
                "nc,netcat,scp,ftp",
            ),
            (
                r"\b(?:curl|wget|Invoke-\w+)\b[^\n]{0,200}(?:\s-[dFT]|--data|--upload|--post"
                rf"|-InFile|-Body)[^\n]{{0,120}}{_SECRET_PLACE}",
                _SECRET_PLACES,
                "curl,wget,invoke-",
            ),
            (
                rf"{_SECRET_PLACE}[^\n]{{0,60}}\|\s*(?:base64[^\n|]{{0,20}}\|\s*)?(?:curl|wget|nc"
                r"|ncat|netcat)\b",
                _SECRET_PLACES,
                "|",
                "curl,wget,nc,netcat",
            ),
            (
                r"\b(?:env|printenv|set|history)\s*(?:\|[^\n|]{0,40}){0,2}\|\s*(?:curl|wget|nc"
                r"|ncat)\b",
                "|",
                "env,set,history",
                "curl,wget,nc",
            ),
            (
                r"\b(?:curl|wget)\b[^\n]{0,200}(?:-d|--data\S*|-F|-T|--post-data)[^\n]{0,40}"
                r"(?:\$\(\s*(?:cat|env|printenv|base64)|`(?:cat|env|printenv))",
                "curl,wget",
                "$(,`cat,`env,`printenv",
            ),
            (
                r"\b(?:nslookup|dig|ping)\b[^\n]{0,60}\$\([^\n)]{1,80}\)\.[\w.-]+",
                "$(",
                "nslookup,dig,ping",
            ),
        ),
        (
            "exfiltration",
            "asks to send secrets away",
            (
                rf"\b(?:send|post|upload|exfiltrate|forward|e-?mail|leak|transmit|report|submit"
                rf"|copy)\b(?:\s+\w+){{0,3}}\s+{_SECRET_THING}\s+(?:\w+\s+){{0,4}}(?:to|at)\s+\S*"
                rf"(?:https?://|@\w|webhook|server|endpoint)",
                "http,@,webhook,server,endpoint",
                "api key,api-key,apikey,token,credential,secret,password,environment var,env var,"
                "ssh key,private key,cookie,session data,conversation,chat history,.env",
            ),
            (
                rf"\b(?:send|post|upload|exfiltrate|forward|e-?mail|leak|transmit)\b[^\n]{{0,60}}"
                rf"{_SECRET_PLACE}[^\n]{{0,40}}\bto\s+(?:https?://|\S{{1,40}}@\w)",
                _SECRET_PLACES,
                "http,@",
            ),
            (
                r"!\[[^\]\n]{0,80}\]\(https?://[^)\s]{0,200}[?&][\w-]+=[^)\s]{0,40}(?:\{|\$"
                r"|<)[^)\s]{0,40}(?:token|secret|key|env|data|history)",
                "](http",
            ),
        ),
        (
            "our own markers",
            "holds the marker of a block that only skill-learner writes",
            (
                r"<!--\s*/?\s*(?:begin\s+|end\s+)?skill-learner\b"
                r"|</?(?:session-digest|existing-skill|hints)(?:-[0-9a-f]{4,64})?>",
                "skill-learner,session-digest,existing-skill,hints",
            ),
        ),
        (
            "our own prompt",
            "repeats or addresses skill-learner's own review",
            (
                r"\bsubmit_review\b|\bnothing_because\b"
                r"|\b(?:skill-learner|skill reviewer|session reviewer)\b[^\n]{0,40}\b(?:must|shall"
                r"|should|always|is instructed)\b"
                r"|\breviewer of coding sessions that are over\b",
                "submit_review,nothing_because,skill-learner,skill reviewer,session reviewer,"
                "reviewer of coding",
            ),
        ),
    )
)

RULES = RuleBook(_RULES)
