"""Who and where somebody is goes out of the text, and the text stays useful."""

from __future__ import annotations

import pytest

from skill_learner.learning.redaction import Redactor

CASES = {
    "posix home": ("open /home/annabeth/src/x.py", "open ~/src/x.py"),
    "mac home": ("cd /Users/annabeth-k/proj", "cd ~/proj"),
    "windows home": (r"C:\Users\Annabeth\proj\x.ps1", r"~\proj\x.ps1"),
    "windows home with a space": (r"C:\Users\Anna Beth\proj", r"~\proj"),
    "windows home, escaped": (r"C:\\Users\\annabeth\\proj", r"~\\proj"),
    "windows home, slashes": ("C:/Users/annabeth/proj", "~/proj"),
    "extended-length home": (r"\\?\C:\Users\annabeth\nul", r"\\?\~\nul"),
    "wsl": ("/mnt/c/Users/annabeth/x", "~/x"),
    "msys": ("/c/Users/annabeth/x", "~/x"),
    "end of a sentence": ("It is in /home/annabeth.", "It is in ~."),
    "an option": ("gcc -I/home/annabeth/include", "gcc -I~/include"),
    "a file url": ("file:///home/annabeth/x", "file://~/x"),
    "folder of a project": (
        "~/.claude/projects/-home-annabeth-x",
        "~/.claude/projects/-home-<user>-x",
    ),
    "e-mail": ("write to annabeth.k+ci@corp-mail.io now", "write to <email> now"),
    "prompt": ("annabeth@build-box-7 proj % make", "<user>@<host> proj % make"),
    "bash prompt": ("[annabeth@build-box-7 proj]$ make", "[<user>@<host> proj]$ make"),
    "debian prompt": ("annabeth@build-box-7:~/proj$ make", "<user>@<host>:~/proj$ make"),
    "git author": ("Author: Anna Beth <ab@corp.io>", "Author: <user> <<email>>"),
    "trailer": ("Signed-off-by: Anna Beth <ab@corp.io>", "Signed-off-by: <user> <<email>>"),
    "git config": (
        "[user]\n\tname = anna-beth\n\temail = ab@corp.io",
        "[user]\n\tname = <user>\n\temail = <email>",
    ),
    "git config, mail first": (
        "[user]\n\temail = ab@corp.io\n\tname = anna-beth",
        "[user]\n\temail = <email>\n\tname = <user>",
    ),
    "git setting": ('git config user.name "Anna Beth"', 'git config user.name "<user>"'),
    "ls -l": (
        "-rw-r--r--  1 anna-beth  staff  96 Jan 22 x",
        "-rw-r--r--  1 <user>  staff  96 Jan 22 x",
    ),
    "ls -l, own group": (
        "drwxr-xr-x 3 annabeth annabeth 96 Jan 22 x",
        "drwxr-xr-x 3 <user> <user> 96 Jan 22 x",
    ),
    "environment": ("USER=annabeth", "USER=<user>"),
    "id": ("uid=1000(annabeth) gid=1000", "uid=1000(<user>) gid=1000"),
}


@pytest.mark.parametrize("name", CASES)
def test_placeholders_keep_the_text_useful(name: str) -> None:
    given, wanted = CASES[name]
    assert Redactor().redact(given) == wanted


@pytest.mark.parametrize(
    "source",
    [
        "/home/anna-beth/x",
        "anna-beth@box-seven proj % ls",
        "-rw-r--r--  1 anna-beth  staff  96 Jan 22 x",
        "[user]\n\tname = anna-beth",
    ],
)
def test_a_name_once_seen_goes_everywhere(source: str) -> None:
    redactor = Redactor()
    redactor.redact(source)
    redacted = redactor.redact(
        "ask anna-beth, or see github.com/anna-beth/repo and Anna-beth's fork"
    )
    assert "anna-beth" not in redacted.lower()
    assert "github.com/<user>/repo" in redacted


@pytest.mark.parametrize(
    "text",
    [
        "git clone git@github.com:org/repo.git",
        "uses: actions/checkout@v4 with pkg@latest and @types/node@20.1.0",
        "icon@2x.png getty@tty1.service user@example.com noreply@anthropic.com",
        "COPY --from=x /home/node/app /srv",
        "https://example.org/home/annabeth/page",
        "drwxr-xr-x 2 root root 4096 Nov 30 src",
        "root@localhost:/# ls",
        "Co-authored-by: Claude <noreply@anthropic.com>",
        "@decorator\ndef f(self): ...",
        "GET /users/profile and /users/{id}/orders",
        "the author of it is Anna Beth <ab@example.com>",
        "see /home/ and /Users/ in the docs, /home/$USER/x, /home/<name>/x",
    ],
)
def test_what_tells_nobody_apart_stays(text: str) -> None:
    assert Redactor().redact(text) == text


def test_a_name_that_is_a_word_goes_only_where_it_is_a_name() -> None:
    redactor = Redactor()
    assert redactor.redact("/home/mark/x") == "~/x"
    assert redactor.redact("mark the test as slow") == "mark the test as slow"
    assert (
        redactor.redact("-rw-r--r-- 1 mark staff 1 Jan 1 x")
        == "-rw-r--r-- 1 <user> staff 1 Jan 1 x"
    )
