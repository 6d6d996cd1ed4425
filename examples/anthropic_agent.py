"""An agent on Anthropic's API that learns: skills go into its system text, and it may load more.

pip install 'skill-learner[anthropic]'
export ANTHROPIC_API_KEY=...
python anthropic_agent.py "Why does my worker leak memory?"
"""

from __future__ import annotations

import os
import sys
from typing import Any

import anthropic

from skill_learner import create_skill_loop
from skill_learner.providers import connect

MODEL = os.environ.get("ANTHROPIC_MODEL", "claude-sonnet-5-5")

client = anthropic.Anthropic()
loop = create_skill_loop(llm=connect("anthropic", model=MODEL), skills_dir="./skills")
engine = loop.engine


@loop.wrap
def agent(messages: list[Any], system: str = "", tools: Any = ()) -> str:
    """Asks until the model has no more tool calls. What it appends to `messages` is seen."""
    while True:
        answer = client.messages.create(
            model=MODEL, max_tokens=2048, system=system, messages=messages, tools=tools
        )
        messages.append({"role": "assistant", "content": answer.content})
        calls = [block for block in answer.content if block.type == "tool_use"]
        if not calls:
            return "".join(block.text for block in answer.content if block.type == "text")
        results = [
            {
                "type": "tool_result",
                "tool_use_id": call.id,
                "content": engine.handle_tool_call(call.name, call.input),
            }
            for call in calls
        ]
        messages.append({"role": "user", "content": results})


if __name__ == "__main__":
    question = " ".join(sys.argv[1:]) or "Why does my worker leak memory?"
    with loop:
        print(agent([{"role": "user", "content": question}], tools=engine.tools()))
    print(loop.get_stats()["skills"], file=sys.stderr)
