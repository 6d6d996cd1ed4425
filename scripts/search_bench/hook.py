"""What a prompt hook costs, cold, as a multiple of `python3 -c pass`; and one more skill.

CPU time of the whole registered line, user and system, the least of some runs taken in turns for
each prompt; median and 95th percentile over prompts.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import time
from dataclasses import replace
from pathlib import Path

from search_bench import plain
from search_bench.data import BATCH, CHECKOUT, Bench
from skill_learner.hook_runtime.launcher import compile_hot_modules, render_hook_sh
from skill_learner.interfaces import IndexDocument
from skill_learner.models import Skill
from skill_learner.search.documents import document_of
from skill_learner.storage.sqlite import SqliteIndex
from skill_learner.targets.claude_code import command_line

LIMITS = {1_000: (1.8, 2.5), 10_000: (4.0, 6.0)}
HUGE = 100_000
PROMPTS, TURNS = 60, 3
LINE = ["/bin/sh", "-c", command_line("UserPromptSubmit")]
ONE_MORE_MS = 25
_PLAIN = """
import sqlite3, sys
db = sqlite3.connect(f'file:{sys.argv[1]}?mode=ro', uri=True)
db.execute("SELECT rowid FROM whole WHERE whole MATCH ? ORDER BY bm25(whole, 10, 5, 1) LIMIT 5",
           (sys.argv[2],)).fetchall()
"""


def run(bench: Bench, options: argparse.Namespace) -> list[str]:
    missed: list[str] = []
    compile_hot_modules(CHECKOUT)
    step = max(1, len(bench.queries) // PROMPTS)
    prompts = [query.text for query in bench.queries[::step]][:PROMPTS]
    for size in (*bench.pools, HUGE) if options.huge else bench.pools:
        home = _home(bench, size)
        ours, untuned, bare, offered = _measure(bench, size, home, prompts)
        middle, high = _percentile(ours, 0.5) / bare, _percentile(ours, 0.95) / bare
        print(f"\nPrompt hook, {size} skills, CPU against `python3 -c pass` ({bare:.1f} ms)")
        print(f"  {'skill-learner, whole hook':44}p50 {middle:.2f}  p95 {high:.2f}")
        if untuned:
            print(
                f"  {'FTS5 with 12 terms, no hook around it':44}"
                f"p50 {_percentile(untuned, 0.5) / bare:.2f}"
                f"  p95 {_percentile(untuned, 0.95) / bare:.2f}"
            )
        print(f"  {offered} of {len(prompts)} prompts got an offer", flush=True)
        limit = LIMITS.get(size)
        if limit and (middle > limit[0] or high > limit[1]):
            missed.append(f"hook at {size}: {middle:.2f} / {high:.2f}, wanted {limit}")
        more = _one_more(bench, size, home)
        print(f"  one more skill: {more:.1f} ms CPU")
        if size == max(LIMITS) and more > ONE_MORE_MS:
            missed.append(f"one more skill: {more:.1f} ms, wanted {ONE_MORE_MS}")
    return missed


def _measure(
    bench: Bench, size: int, home: Path, prompts: list[str]
) -> tuple[list[float], list[float], float, int]:
    environ = {k: v for k, v in os.environ.items() if not k.startswith("SKILL_LEARNER_")}
    project = home.parent / "project"
    (project / ".git").mkdir(parents=True, exist_ok=True)
    environ |= {"HOME": str(home), "CLAUDE_PROJECT_DIR": str(project), "CLAUDE_PID": "1"}
    reply, payload = home / "reply", home / "payload"
    plain_db = bench.work / f"plain-{size}.sqlite"
    if size in LIMITS:
        bench.plain(size).close()
    ours, untuned, bare, offered = [], [], [], 0
    for number, prompt in enumerate(prompts):
        best = {"ours": 1e9, "plain": 1e9, "bare": 1e9}
        for turn in range(TURNS):
            session = f"{number}-{turn}-{os.getpid()}"
            payload.write_text(
                json.dumps(
                    {
                        "session_id": session,
                        "cwd": str(project),
                        "hook_event_name": "UserPromptSubmit",
                        "prompt": prompt,
                    }
                )
            )
            best["bare"] = min(best["bare"], _cpu([sys.executable, "-c", "pass"], environ))
            best["ours"] = min(best["ours"], _cpu(LINE, environ, payload, reply))
            if plain_db.exists():
                line = [sys.executable, "-I", "-S", "-c", _PLAIN, str(plain_db)]
                asked = plain.expression(prompt, 12) or '"x"'
                best["plain"] = min(best["plain"], _cpu([*line, asked], environ))
        offered += reply.stat().st_size > 0
        ours.append(best["ours"])
        bare.append(best["bare"])
        if plain_db.exists():
            untuned.append(best["plain"])
    log = home / ".skill_learner" / "hook.log"
    if log.exists():
        raise SystemExit(f"the hooks met faults:\n{log.read_text()}")
    return ours, untuned, _percentile(bare, 0.5), offered


def _percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def _cpu(
    line: list[str], environ: dict[str, str], stdin: Path | None = None, out: Path | None = None
) -> float:
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    child = os.posix_spawn(
        line[0],
        line,
        environ,
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, str(stdin or os.devnull), os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, str(out or os.devnull), flags, 0o600),
        ],
    )
    _, status, usage = os.wait4(child, 0)
    if status:
        raise SystemExit(f"{line} ended with status {status}")
    return (usage.ru_utime + usage.ru_stime) * 1000


def _home(bench: Bench, size: int) -> Path:
    """A home folder whose library has so many skills: the index, and a SKILL.md for each that a
    hook may look for."""
    home = bench.work / f"home-{size}"
    state = home / ".skill_learner"
    index_file = state / "index.sqlite"
    if not index_file.exists():
        state.mkdir(parents=True, exist_ok=True)
        started = time.process_time()
        draft = state / "draft.sqlite"
        draft.unlink(missing_ok=True)
        index = SqliteIndex(draft)
        for start in range(0, size, BATCH):
            some = range(start, min(start + BATCH, size))
            index.update([_document(bench, number) for number in some], [])
        index.finish()
        index.close()
        draft.rename(index_file)
        print(f"made a library of {size}: {time.process_time() - started:.0f} s CPU", flush=True)
        for number in range(min(size, 10_000)):
            folder = state / "skills" / f"s{number}"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "SKILL.md").write_text("---\nname: s\ndescription: d\n---\nBody\n")
    script = render_hook_sh(Path(sys.executable), CHECKOUT / "hooks" / "entry.py", state, CHECKOUT)
    (state / "hook.sh").write_bytes(script)
    return home


def _document(bench: Bench, number: int) -> IndexDocument:
    skill = bench.skills[number % len(bench.skills)]
    if number >= len(bench.skills):
        skill = _perturbed(bench, skill, number)
    return document_of(skill, f"s{number}", "1")


def _perturbed(bench: Bench, skill: Skill, number: int) -> Skill:
    """The same skill with every eighth word taken from another one."""
    draw = random.Random(number)
    other = bench.skills[draw.randrange(len(bench.skills))]

    def mixed(text: str, source: str) -> str:
        words, others = text.split(" "), source.split(" ")
        for place in range(number % 8, len(words), 8):
            words[place] = others[place % len(others)]
        return " ".join(words)

    return replace(
        skill,
        description=mixed(skill.description, other.description),
        body=mixed(skill.body, other.body),
    )


def _one_more(bench: Bench, size: int, home: Path) -> float:
    """The median cost of putting one skill into the index, and taking it out again."""
    index = SqliteIndex(home / ".skill_learner" / "index.sqlite")
    spent = []
    for number in range(15):
        started = time.process_time()
        index.update([document_of(bench.skills[number], f"more-{number}", "1")], [])
        spent.append((time.process_time() - started) * 1000)
    index.update([], [f"more-{number}" for number in range(15)])
    index.close()
    return _percentile(spent, 0.5)
