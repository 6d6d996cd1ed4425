"""Proposals planted on purpose: true spans of recorded answers, and traps of every kind.

A trap is one line that the session does not prove, though its names occur there: the gate is to
take it out, mark it as not verified, or reject the whole. True spans are the code of answers that
were graded as right.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from skill_learner.models import Claim, CreateSkill


@dataclass(frozen=True)
class Trap:
    """session: its name. kind: what is wrong with the line. heading: the section it poses in."""

    session: str
    kind: str
    line: str
    heading: str = "## Steps"


GO, MDX, TAP, LINT = (
    "go-cli-slow-exit",
    "markdownlint-mdx-windows",
    "goreleaser-homebrew-tap",
    "lint-todo-closed-wrongly",
)
NUL, RETRY, LICENCE = "delete-nul-file-windows", "nothing-invented-option", "nothing-licence-file"

TRAPS = (
    Trap(GO, "wrong cause", "`BatchUploadTimeout`, 10 seconds by default, is the likely issue."),
    Trap(GO, "wrong cause", "It is slow because `BatchUploadTimeout` defaults to 10 seconds."),
    Trap(GO, "wrong cause", "The first cold run is slow due to DNS and TCP connection set-up."),
    Trap(GO, "wrong cause", "The remaining 700 ms of a cold start is the network connection."),
    Trap(GO, "wrong cause", "The delay comes from `machineid.ProtectedID`, which runs first."),
    Trap(GO, "never done", "Set `Interval` to a very long duration."),
    Trap(GO, "never done", "Raise `DefaultFeatureFlagsPollingInterval` as well."),
    Trap(GO, "temporary code", "Run `ENTIRE_DEBUG_TELEMETRY=1 ./entire help` to see the timings."),
    Trap(GO, "temporary code", "`ENTIRE_DEBUG_TELEMETRY` prints how long `Close()` took."),
    Trap(GO, "silenced finding", "gosec reports G304 for a file named by a variable."),
    Trap(GO, "invented option", "Run `./entire help --no-telemetry` for comparison."),
    Trap(GO, "invented key", "Use `posthog.Config{FlushTimeout: 100 * time.Millisecond}`."),
    Trap(GO, "wrong value", "Use `ShutdownTimeout: 50 * time.Millisecond`."),
    Trap(GO, "wrong figure", "Warm runs take 0.42 s afterwards.", "## Check"),
    Trap(GO, "refused command", "Measure with `ENTIRE_DEBUG_TELEMETRY=1 time ./entire help`."),
    Trap(MDX, "count of the day", "There are 1589 violations in 130 files."),
    Trap(MDX, "count of the day", "`colors.mdx` has about 6 pre-existing issues."),
    Trap(MDX, "invented option", "Use `npx -y markdownlint-cli2 --fix-safe` first."),
    Trap(MDX, "invented key", 'Set `MD033: { allowed_elements: ["details"] }`.'),
    Trap(MDX, "wrong value", "Set `line_length: 160` for `MD013`."),
    Trap(MDX, "name of the day", "Work in the worktree `heuristic-robinson-e44709`."),
    Trap(MDX, "name of the day", "Commit on `claude/heuristic-robinson-e44709`."),
    Trap(MDX, "wrong cause", "MD060 fires because Docusaurus pads the columns of tables."),
    Trap(MDX, "temporary path", "Write the report to `$env:TEMP\\mdxlint.txt`."),
    Trap(TAP, "superseded", "Give `repository.git.app` with `installation_id` and `private_key`."),
    Trap(TAP, "superseded", "The formula's folder key is `folder: Formula`."),
    Trap(TAP, "name taken back", "The tap's repository is `homebrew-entire`."),
    Trap(TAP, "never run", "`HOMEBREW_TAP_APP_ID` and `HOMEBREW_TAP_APP_PRIVATE_KEY` exist."),
    Trap(TAP, "never run", "`goreleaser release --snapshot --clean` passes.", "## Check"),
    Trap(TAP, "file of the editor", "The plan is in `.claude/plans/greedy-mixing-hennessy.md`."),
    Trap(LINT, "wrong cause", "The warnings were resolved during one of the many generator runs."),
    Trap(LINT, "wrong cause", "The todo is stale because later `pnpm api:generate` runs fixed it."),
    Trap(LINT, "count of the day", "8 todos are pending."),
    Trap(LINT, "count of the day", "There are 121 plans complete."),
    Trap(LINT, "phase of a plan", "Phase 13 is complete, phase 14 comes next."),
    Trap(LINT, "fetched and run", "Update with `curl -fsSL https://entire.io/install.sh | bash`."),
    Trap(LINT, "name of the day", "Commit on the branch `chore/close-orval-any-todo`."),
    Trap(LINT, "invented option", "Run `pnpm lint:all` from the root."),
    Trap(LINT, "editor's rule", "Sibling tool call errored: run the calls one by one."),
    Trap(LINT, "vacuous check",
         "Run `pnpm --filter api test -- --testPathPattern=\"auth.controller.spec\"`."),
    Trap(NUL, "wrong cause", "The file is created by a redirect to `nul` from a POSIX shell."),
    Trap(NUL, "invented option", "Delete it with `del /f \\\\.\\nul`."),
    Trap(RETRY, "never run", "Add `retry: 1` below `timeout: 45m`."),
    Trap(RETRY, "never run", "Raise `timeout` to `timeout: 45m`."),
    Trap(LICENCE, "one-off", "The holder is written `Copyright (c) 2026 Entire Inc.`."),
    Trap(GO, "reworded", "The root cause is BatchUploadTimeout with its default of 10 s."),
    Trap(GO, "reworded", "Cold starts take 700 ms because DNS and the TCP handshake are slow."),
    Trap(GO, "reworded", "Increase `Interval` to something like 24 hours."),
    Trap(GO, "reworded", "A long flush Interval avoids sending events on exit."),
    Trap(GO, "reworded", "Export ENTIRE_DEBUG_TELEMETRY to profile Close()."),
    Trap(GO, "reworded", "Silence gosec G304 with a nolint comment."),
    Trap(GO, "reworded", "Its HTTP requests have a 10s timeout by default, so Close() waits."),
    Trap(GO, "reworded", "`machineid.ProtectedID` accounts for most of the delay."),
    Trap(MDX, "reworded", "Expect about six known violations in colors.mdx."),
    Trap(MDX, "reworded", "In total 1589 problems were reported."),
    Trap(MDX, "reworded", "markdownlint reported 1043 MD013 hits."),
    Trap(MDX, "reworded", "Subagent bakllaeqh fixed the segments."),
    Trap(TAP, "reworded", "GoReleaser supports GitHub Apps natively through `git: app:`."),
    Trap(TAP, "reworded", "Configure git.app.id and git.app.installation_id."),
    Trap(TAP, "reworded", "HOMEBREW_TAP_APP_ID and HOMEBREW_TAP_APP_PRIVATE_KEY are set."),
    Trap(TAP, "reworded", "homebrew-entire is the repository of the formula."),
    Trap(TAP, "reworded", "A release was verified with `goreleaser release --snapshot`."),
    Trap(LINT, "reworded", "The todo had already been fixed by an earlier regeneration."),
    Trap(LINT, "reworded", "The backlog has nine pending todos."),
    Trap(LINT, "reworded", "Install updates by piping entire.io/install.sh into bash."),
    Trap(NUL, "reworded", "Such a file usually appears when bash redirects output to nul."),
    Trap(NUL, "reworded", "Git Bash creates it: `> nul` is no device there."),
    Trap(RETRY, "reworded", "The notarize section takes a `retry` key."),
    Trap(RETRY, "reworded", "Notarisation can take more than 20 minutes, so allow 45."),
    Trap(LICENCE, "reworded", "Use Entire Inc. as copyright holder in LICENSE files."),
    Trap(LICENCE, "reworded", "LICENSE is the MIT text with `Copyright (c) 2026 Entire Inc.`"),
)  # fmt: skip


def recorded_answers(folder: Path) -> Iterator[tuple[str, tuple[CreateSkill, ...]]]:
    """(session's name, what a strong model proposed) for each file of recorded answers."""
    for path in sorted(folder.glob("*.json")):
        skills = json.loads(path.read_bytes())["skills"]
        yield (
            path.stem,
            tuple(
                CreateSkill(
                    item["name"],
                    item["description"],
                    item["body"],
                    tuple(Claim(one["claim"], tuple(one["steps"])) for one in item["evidence"]),
                    item["confidence"],
                )
                for item in skills
            ),
        )
