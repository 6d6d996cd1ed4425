"""What a scripted reviewer proposes from the recorded sessions: lessons that are true, and things
that must never be saved. `lines` are lines of the transcript that are cited as evidence."""

from __future__ import annotations

from dataclasses import dataclass

from skill_learner.models import Claim, CreateSkill, Session

GO, MDX, TAP, LINT, NUL = (
    "go-cli-slow-exit",
    "markdownlint-mdx-windows",
    "goreleaser-homebrew-tap",
    "lint-todo-closed-wrongly",
    "delete-nul-file-windows",
)
RETRY, LICENCE = "nothing-invented-option", "nothing-licence-file"


@dataclass(frozen=True)
class Lesson:
    """A true skill. active: it must become active at once. facts: patterns that must stay in it."""

    session: str
    code: str
    name: str
    description: str
    body: str
    lines: tuple[int, ...]
    active: bool
    facts: tuple[str, ...]


@dataclass(frozen=True)
class Never:
    """A trap, or a thing that is not to be saved. lines: what a careless reviewer would cite.
    trace: a pattern that must not be found in anything that is kept."""

    session: str
    kind: str
    line: str
    lines: tuple[int, ...]
    trace: str


LESSONS = (
    Lesson(GO, "W1a", "go-cli-exit-waits-for-telemetry",
        "Use when every command of a Go CLI with posthog-go returns to the prompt late.",
        """## When
The prompt comes back some hundred ms after the output; switching telemetry off cures it.

## Steps
1. Compare on one build: `time ./entire help` and `time ENTIRE_TELEMETRY_OPTOUT=1 ./entire help`.
2. In posthog-go v1.9.0 `Close()` waits without limit as long as `ShutdownTimeout` is zero or less.
3. Set in `posthog.Config`: `ShutdownTimeout: 100 * time.Millisecond`, and a `Transport` with short
   time-outs (measured together).
4. A logger of one's own needs `Debugf`, `Logf`, `Warnf` and `Errorf`; read them with
   `go doc github.com/posthog/posthog-go Logger`.

## Pitfalls
- `silentLogger does not implement posthog.Logger (missing method Debugf)` fails the build.
- The first run after a build stays slow (0.684 s); time several.

## Check
`for i in 1 2 3 4 5; do time ./entire help > /dev/null 2>&1; done` takes about 0.135 s each.
""", (52, 85, 89, 91, 95, 108, 113, 115, 145, 159, 162), True,
        ("ENTIRE_TELEMETRY_OPTOUT=1", "ShutdownTimeout: 100", "Debugf", r"waits without limit",
         "go doc github.com/posthog/posthog-go Logger", r"0\.135")),
    Lesson(MDX, "W4a", "markdownlint-mdx-rules-and-unsafe-fixes",
        "Use when markdownlint-cli2 is to check .mdx files, or its --fix is about to run on them.",
        """## When
The workflow lints only `**/*.md`, and the documentation is .mdx.

## Steps
1. Count by rule before anything else:
   `npx -y markdownlint-cli2 --config .markdownlint-cli2.yaml "website/**/*.mdx"`
2. Relax in `.markdownlint-cli2.yaml`: `MD033: false`, `MD034: false`, `MD060: false`, and for MD013
   `tables: false`.
3. Give two globs in the workflow:
   ```yaml
   globs: |
     **/*.md
     **/*.mdx
   ```

## Pitfalls
- `--fix` by MD034 wraps URLs in JSX as `<http...>`.
- MD038 strips spaces that mean something from code spans; write `"> "` instead.
- MD010 makes one space of a tab in code blocks.
- MD053 deletes link definitions: look for uses first.

## Check
`npx -y markdownlint-cli2 --config .markdownlint-cli2.yaml "**/*.md" "**/*.mdx"` finds 0 issues, and
`npm run build` passes, for lint does not prove that the pages compile.
""", (32, 37, 42, 44, 51, 131, 228, 247, 253, 258, 264, 275, 278, 280), True,
        (r"\*\*/\*\.mdx", "MD033: false", "MD034: false", "MD060: false", "tables: false",
         "MD034 wraps", "MD038", "MD010", "MD053", "npm run build")),
    Lesson(MDX, "W4b", "powershell-keeps-lf-line-endings",
        "Use when PowerShell rewrites files and git warns that CRLF will be replaced by LF.",
        """## When
After `Set-Content` git says: `CRLF will be replaced by LF the next time Git touches it`.

## Steps
1. Read with `Get-Content $f -Raw`, replace the line ends, and write with
   `[System.IO.File]::WriteAllText((Resolve-Path $f), $c)`.

## Check
`git diff --stat` prints no warning.
""", (207, 213), True, ("Set-Content", "WriteAllText", "CRLF")),
    Lesson(TAP, "W7", "goreleaser-tap-with-app-token",
        "Use when GoReleaser is to publish a Homebrew formula to another repository without a "
        "personal access token.",
        """## When
CI shall push the formula, and nobody's personal token may be used.

## Steps
1. Make a token in the workflow with `actions/create-github-app-token` and hand it over as
   `TAP_GITHUB_TOKEN`.
2. In `.goreleaser.yaml` give `token: "{{ .Env.TAP_GITHUB_TOKEN }}"` below `repository:`.
3. The folder's key is `directory: Formula`.

## Pitfalls
- The person: no tokens of a personal account for the organisation.
- `GITHUB_TOKEN` reaches its own repository only.
- `folder: Formula` is not the key.

## Check
The editor's diagnostics for `.goreleaser.yaml` are empty: `"diagnostics": []`.

## Unverified
Not verified in the session: no snapshot and no release was run.
""", (58, 71, 80, 120, 121, 122, 136, 139), False,
        ("create-github-app-token", "TAP_GITHUB_TOKEN", "directory: Formula", "GITHUB_TOKEN",
         "no snapshot")),
    Lesson(LINT, "W8a", "reproduce-lint-todo-with-reported-command",
        "Use before closing a lint todo as fixed: run the very command of the report first.",
        """## When
A todo says that `pnpm api:generate` prints warnings, and a narrower lint finds none.

## Steps
1. Run `pnpm api:generate` from the root: its last step is `eslint . --fix` over the whole
   repository, and the warnings were in `apps/api`.

## Pitfalls
- `pnpm --filter web lint` printed nothing, and the todo was closed and committed; a filter that
  prints nothing is not proof.
""", (104, 108, 126, 131, 139, 158), True,
        ("pnpm api:generate", r"eslint \. --fix", "apps/api", "is not proof")),
    Lesson(LINT, "W8b", "jest-one-file-through-pnpm",
        "Use when one Jest file is to run through pnpm and it says that no tests were found.",
        """## When
`No tests found, exiting with code 0`, though the file is there.

## Steps
1. Give the file as a plain pattern: `pnpm --filter api test -- auth.controller.spec`.

## Pitfalls
- Flags after `--`, as `--testPathPattern="auth.controller.spec"`, are taken for patterns and match
  nothing; with `--passWithNoTests` the run passes all the same.
""", (267, 269, 271, 273, 275), True,
        ("pnpm --filter api test -- auth.controller.spec", "taken for patterns",
         "passWithNoTests")),
    Lesson(LINT, "W8c", "no-explicit-any-in-specs",
        "Use when eslint reports no-explicit-any in Jest specs.",
        """## Steps
1. Drop `as any` where the mock is typed already; else write `as unknown as TeeKeyState`.
2. `catch (error: unknown)` with `error instanceof Error`.

## Check
`pnpm lint:fix` finds nothing.
""", (158, 195, 217, 230, 258, 265), False, ("as unknown as", "error: unknown")),
    Lesson(NUL, "nul", "delete-file-named-nul-on-windows",
        "Use when a file named nul cannot be deleted on Windows.",
        """## Steps
1. `Remove-Item -LiteralPath '\\\\?\\D:\\<path>\\nul' -Force`

## Check
`git status --short` no longer lists it.
""", (5, 12), True, ("LiteralPath", "-Force")),
)  # fmt: skip

NEVER = (
    Never(GO, "TRAP", "`BatchUploadTimeout` defaults to 10 seconds, and that is likely the issue.",
          (76, 78), r"BatchUploadTimeout.*issue"),
    Never(GO, "TRAP", "The slow exit is caused by `BatchUploadTimeout`, 10 seconds by default.",
          (76,), "caused by .BatchUploadTimeout"),
    Never(GO, "TRAP", "Set `Interval` very long so that nothing is flushed at exit.", (100,),
          "Interval"),
    Never(GO, "TRAP", "The 700 ms of a cold start are the network connection.", (159, 162),
          "network connection"),
    Never(GO, "NOT", "Use `ENTIRE_DEBUG_TELEMETRY=1` to print timings.", (127, 136),
          "ENTIRE_DEBUG_TELEMETRY"),
    Never(GO, "NOT", "gosec complains of G304 when a file name comes from a variable.", (25, 29),
          "gosec|G304"),
    Never(MDX, "TRAP", "About 6 pre-existing issues are known in `colors.mdx`.", (6,),
          r"6 pre-existing"),
    Never(MDX, "NOT", "There are 1589 violations in 130 files.", (37,), r"\b1589\b|\b130\b"),
    Never(MDX, "NOT", "The work tree is `heuristic-robinson-e44709`.", (236,), "heuristic"),
    Never(MDX, "NOT", "The agents for the segments had the id `bu47r032w`.", (253,), "bu47r032w"),
    Never(TAP, "TRAP", "Use `git.app` with `installation_id` below `repository`.", (68, 71),
          r"git\.app|installation_id"),
    Never(TAP, "NOT", "The secrets `HOMEBREW_TAP_APP_ID` and `HOMEBREW_TAP_APP_PRIVATE_KEY` exist.",
          (121,), "HOMEBREW_TAP_APP"),
    Never(TAP, "NOT", "The plan lies in `.claude/plans/greedy-mixing-hennessy.md`.", (100,),
          "greedy-mixing"),
    Never(TAP, "NOT", "The tap is called `homebrew-entire`.", (39,), "homebrew-entire"),
    Never(LINT, "TRAP", "The warnings were resolved during one of many `pnpm api:generate` runs.",
          (104, 122), "resolved during"),
    Never(LINT, "TRAP", "The generated client was fixed in later phases already.", (122,),
          "later phases"),
    Never(LINT, "NOT", "8 todos are pending.", (131,), r"\b8 todos"),
    Never(LINT, "NOT", "Phase 13 is done and phase 14 is next.", (43,), r"(?i)phase 1\d"),
    Never(LINT, "NOT", "Update the tool with `curl -fsSL https://entire.io/install.sh | bash`.",
          (10,), r"install\.sh"),
    Never(LINT, "NOT", "Commit on `chore/close-orval-any-todo`.", (137,), "close-orval"),
    Never(LINT, "NOT", "The person is michael on Michaels-Virtual-Machine.", (158,),
          "(?i)michael"),
    Never(NUL, "TRAP", "The file comes from a redirect to `nul` in a shell that is not cmd.",
          (5, 12), "redirect"),
    Never(RETRY, "NOT", "Add `retry: 1` to the notarisation.", (23, 25), "retry: 1"),
    Never(RETRY, "NOT", "A timeout of `45m` is enough for notarisation.", (1, 16), "45m"),
    Never(LICENCE, "NOT", "The copyright holder is Entire Inc.", (2, 7, 10), "Entire Inc"),
)  # fmt: skip


def steps_at(session: Session, lines: tuple[int, ...]) -> tuple[int, ...]:
    """The steps that begin at these lines of the transcript, or last began before them."""
    begins = [(int(step.source.rsplit(":", 1)[-1] or 0), step.number) for step in session.steps]
    found = []
    for line in lines:
        before = [number for start, number in begins if start <= line]
        found.append(max(before) if before else 1)
    return tuple(dict.fromkeys(found))


def draft_of(lesson: Lesson, session: Session) -> CreateSkill:
    claim = Claim(lesson.description, steps_at(session, lesson.lines))
    return CreateSkill(lesson.name, lesson.description, lesson.body, (claim,), 0.9)


def draft_alone(never: Never, session: Session) -> CreateSkill:
    """A skill that says nothing else."""
    claim = Claim(never.line, steps_at(session, never.lines))
    return CreateSkill(
        "a-thing-never-to-be-saved", f"Use when needed. {never.line}",
        f"## Steps\n1. {never.line}\n", (claim,), 0.95,
    )  # fmt: skip


def draft_hidden(never: Never, lesson: Lesson, session: Session) -> CreateSkill:
    """A true skill with the thing among its pitfalls."""
    draft = draft_of(lesson, session)
    claims = (*draft.evidence, Claim(never.line, steps_at(session, never.lines)))
    body = f"{lesson.body}\n## Pitfalls\n- {never.line}\n"
    return CreateSkill(draft.name, draft.description, body, claims, 0.9)
