"""Words for `whose`: what any project has, and how people speak of one project or of all. Data."""

from __future__ import annotations

import re

COMMON_FILES = frozenset(
    """
    README README.md CHANGELOG.md CONTRIBUTING.md LICENSE CLAUDE.md AGENTS.md GEMINI.md .cursorrules
    package.json package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml pnpm-workspace.yaml
    bun.lockb tsconfig.json jsconfig.json deno.json .npmrc .nvmrc .yarnrc.yml .eslintrc
    .eslintrc.js .eslintrc.cjs .eslintrc.json eslint.config.js eslint.config.mjs .prettierrc
    vite.config.js vite.config.ts vitest.config.ts next.config.js next.config.mjs next.config.ts
    webpack.config.js rollup.config.js jest.config.js jest.config.ts babel.config.js .babelrc
    tailwind.config.js tailwind.config.ts postcss.config.js playwright.config.ts nx.json turbo.json
    angular.json svelte.config.js astro.config.mjs index.js index.ts index.tsx index.html main.js
    main.ts main.tsx app.js app.ts App.tsx server.js server.ts schema.prisma
    pyproject.toml setup.py setup.cfg requirements.txt requirements-dev.txt constraints.txt Pipfile
    Pipfile.lock poetry.lock uv.lock tox.ini noxfile.py pytest.ini conftest.py mypy.ini ruff.toml
    .flake8 .coveragerc .python-version __init__.py __main__.py manage.py settings.py urls.py
    wsgi.py asgi.py main.py app.py alembic.ini environment.yml
    go.mod go.sum go.work main.go Cargo.toml Cargo.lock main.rs lib.rs mod.rs build.rs
    rust-toolchain.toml Gemfile Gemfile.lock Rakefile config.ru composer.json composer.lock
    pom.xml build.gradle build.gradle.kts settings.gradle settings.gradle.kts gradle.properties
    gradlew mvnw mix.exs pubspec.yaml Package.swift Podfile Podfile.lock CMakeLists.txt
    CMakeCache.txt CMakePresets.json Makefile GNUmakefile justfile Justfile Taskfile.yml meson.build
    configure.ac Dockerfile .dockerignore docker-compose.yml docker-compose.yaml compose.yml
    compose.yaml Procfile Vagrantfile Jenkinsfile .gitlab-ci.yml .travis.yml .pre-commit-config.yaml
    .gitignore .gitattributes .gitmodules .editorconfig .env .env.local .env.example .envrc
    main.tf variables.tf outputs.tf versions.tf .terraform.lock.hcl Chart.yaml values.yaml
    config.json config.yml config.yaml config.toml settings.json .claude.json mcp.json .mcp.json
    node.js next.js vue.js
    """.split()
)
COMMON_DIRS = frozenset(
    """
    src app lib test tests bin cmd pkg internal config public static dist build out target vendor
    node_modules docs scripts .github .vscode .git .venv venv .claude .cursor .codex
    """.split()
)

TASK_RUNNERS = (
    r"(?:npm|bun|pnpm|yarn|deno task|composer) run(?:-script)?|pnpm|yarn|make|just|task|rake|poe"
    r"|mise run|nox -s|tox -e|invoke|pdm run|hatch run|bazel (?:run|build|test)|nx run"
)
COMMON_TASKS = frozenset(
    """
    all build test tests check clean install lint format fmt run start dev serve watch help dist
    release deploy docs coverage typecheck type-check add remove init update upgrade publish
    ci exec dlx why list audit outdated link unlink up down migrate db:migrate spec default
    py python pytest lint:fix format:check test:unit test:e2e build:prod start:dev
    """.split()
)

THIS_PROJECT = re.compile(
    r"\b(?:this|our) (?:project|repo(?:sitory)?|code ?base|monorepo|package|app(?:lication)?)\b"
    r"|\b(?:diese[mnrs]?|unser\w*) (?:Projekt\w*|Repo\w*)|\b(?:ce|notre) (?:projet|dépôt)"
    r"|\b(?:este|nuestro) (?:proyecto|repositorio)|\b(?:n?este|nosso) (?:projeto|repositório)"
    r"|\b(?:questo|nostro) (?:progetto|repository)|\b(?:dit|ons) (?:project|repo)"
    r"|\btym (?:projekcie|repozytorium)|\b(?:этом|нашем) (?:проекте|репозитории)"
    r"|このプロジェクト|このリポジトリ|本项目|这个项目|本仓库|이 프로젝트|이 저장소|bu proje",
    re.IGNORECASE,
)
ALL_PROJECTS = re.compile(
    r"\b(?:all|any|every|other|across) (?:of )?(?:my |our |the )?(?:projects?|repos(?:itories)?)\b"
    r"|\b(?:everywhere|globally)\b|\bin general\b"
    r"|\b(?:allen|alle|jedem) (?:meinen? )?(?:Projekte?n?|Repos)|\büberall\b"
    r"|\btous (?:mes|les) projets|\btodos (?:mis|los|os|meus) pro(?:yec|je)tos"
    r"|\btutti i (?:miei )?progetti|\balle projecten|\bwszystkich projektach|\bвсех проектах"
    r"|すべてのプロジェクト|所有项目|每个项目|모든 프로젝트|tüm projeler",
    re.IGNORECASE,
)
