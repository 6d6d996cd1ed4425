"""Names of programs by what they are for. Data only."""

from __future__ import annotations

HARMLESS_PROGRAMS = frozenset(
    "cd pushd popd echo printf sleep source . set export unset setopt true : clear date pwd "
    "set-location write-host write-output start-sleep for foreach while if fi done".split()
)
"""They stand beside the command that matters."""

FILTER_PROGRAMS = frozenset(
    "head tail grep egrep fgrep rg ag sed awk cut sort uniq wc tr tee less more cat column "
    "xargs jq "
    "yq select-object select-string where-object format-table format-list measure-object out-file "
    "out-string out-null findstr foreach-object sort-object group-object".split()
)

READ_ONLY_PROGRAMS = frozenset(
    "ls dir ll cat less more head tail grep egrep fgrep rg ag find fd locate tree stat file "
    "du df wc "
    "which type whereis command test [ [[ diff cmp pwd whoami id uname hostname env printenv date "
    "ps top jobs history man tldr help get-content get-childitem get-item get-command test-path "
    "select-string resolve-path sed awk jq yq sort xxd hexdump strings readlink realpath basename "
    "dirname open code".split()
)
"""Programs that only look around. Their failing (no match, no such file) is no lesson."""

SUBCOMMAND_PROGRAMS = frozenset(
    "git go npm pnpm yarn bun deno cargo rustup docker podman docker-compose kubectl helm "
    "terraform "
    "tofu make just task mise asdf poetry uv pip pipx conda pdm hatch nox tox invoke dotnet gradle "
    "gradlew mvn mvnw ant bazel buck pants swift xcodebuild flutter dart mix rebar3 stack "
    "cabal gem "
    "bundle rake rails php composer artisan symfony apt apt-get brew choco winget nix gh "
    "glab aws gcloud "
    "az vercel netlify fly heroku wrangler firebase supabase prisma alembic django-admin manage.py "
    "goreleaser ng nx turbo lerna rush ember vue expo systemctl service launchctl".split()
)
"""Programs whose first word names what is to be done."""

LAUNCHERS = frozenset("npx bunx pnpx uvx pipx python py ruby node tsx ts-node deno perl".split())
"""Programs that start the tool which counts."""

WRAPPERS = frozenset(
    "time sudo doas env nice nohup command exec timeout gtimeout stdbuf xvfb-run".split()
)

READ_ONLY_SUBCOMMANDS = frozenset(
    "git status|git log|git diff|git show|git branch|git remote|git blame|git grep|git ls-files|"
    "git rev-parse|git describe|git fetch|git config|git stash|git worktree|git "
    "checkout|git switch|"
    "git add|go doc|go env|go list|go version|"
    "npm ls|npm view|npm list|npm outdated|pip list|pip show|pip freeze|pip index|cargo tree|"
    "docker ps|docker images|docker logs|docker inspect|kubectl get|kubectl describe|kubectl logs|"
    "gh issue|gh pr|gh run|gh api|gh repo|brew info|brew list|systemctl status".split("|")
)
"""Looking around or book-keeping: neither a check nor a change of the work."""
