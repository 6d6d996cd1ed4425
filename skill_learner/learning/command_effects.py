"""What a command line does beside its output: what it may change, what it hides."""

from __future__ import annotations

import re

from skill_learner.learning.commands import parts_of

_SWALLOWED = re.compile(
    r"\|\|\s*(?:true|:|echo\b.*|exit\s+0)\s*$|;\s*(?:true|exit\s+0)\s*$|\s&\s*$"
)

_CHANGES = re.compile(
    r"(?:^|[\s;&|(])(?:sed\s+(?:-\w*\s+)*-i|perl\s+-\w*i|gofmt\s+-w|rm|mv|cp|mkdir|touch|chmod|chown|ln"
    r"|patch|dos2unix|truncate|kill|pkill|export)\s"
    r"|\b(?:install|add|ci|sync|get|upgrade|update|remove|uninstall|restore|reset|revert|apply|init"
    r"|migrate|generate|gen|codegen|tidy|vendor|link|clean|prune|up|restart|reload|build|compile"
    r"|format|fmt|fix|write|checkout|rebase|merge)\b"
    r"|--(?:fix|write|in-place|force|update|install)\b|>{1,2}\s*(?!/dev/null|&|\$null)[\w./$~\"'-]+"
    r"|Set-Content|Add-Content|Out-File|WriteAllText|AppendAllText|Remove-Item|New-Item|Copy-Item"
    r"|Move-Item|\.write\(|write_text\(",
)


def changes_something(line: str) -> bool:
    """True for a command that may alter files, dependencies or services."""
    return bool(_CHANGES.search(line))


def hides_exit_code(line: str) -> bool:
    """True when a failure would not show in the exit code: a filter behind a pipe without pipefail,
    `|| true`, a trailing `; true`, a background `&`."""
    if _SWALLOWED.search(line):
        return True
    parts = parts_of(line)
    piped = any(part.before in {"|", "|&"} for part in parts)
    if piped and "pipefail" not in line:
        return True
    return any(part.before == ";" and part.program in {"echo", "printf"} for part in parts[-1:])
