"""An agent on OpenAI's API that learns, with its answer streamed.

pip install 'skill-learner[openai]'
export OPENAI_API_KEY=...
python openai_agent.py "Why does my worker leak memory?"
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any

import openai

from skill_learner import create_skill_loop
from skill_learner.providers import connect

MODEL = os.environ.get("OPENAI_MODEL", "gpt-5.4")

client = openai.OpenAI()
loop = create_skill_loop(llm=connect("openai", model=MODEL), skills_dir="./skills")


@loop.wrap
def agent(messages: list[Any]) -> Iterator[Any]:
    yield from client.chat.completions.create(model=MODEL, messages=messages, stream=True)


if __name__ == "__main__":
    question = " ".join(sys.argv[1:]) or "Why does my worker leak memory?"
    with loop:
        for chunk in agent([{"role": "user", "content": question}]):
            if chunk.choices:
                print(chunk.choices[0].delta.content or "", end="", flush=True)
        print()
    print(loop.get_stats()["skills"], file=sys.stderr)
