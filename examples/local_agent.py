"""An agent on a server of your own that speaks OpenAI's language (Ollama, llama.cpp, vLLM, ...).

    pip install 'skill-learner[openai]'
    python local_agent.py http://127.0.0.1:11434/v1 qwen3 "Why does my worker leak memory?"

The same server reviews: nothing leaves the machine.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import openai

from skill_learner import create_skill_loop
from skill_learner.providers import connect


async def main(base_url: str, model: str, question: str) -> None:
    client = openai.AsyncOpenAI(base_url=base_url, api_key="none")
    loop = create_skill_loop(
        llm=connect("openai", model=model, base_url=base_url), skills_dir="./skills"
    )

    @loop.wrap
    async def agent(messages: list[Any]) -> Any:
        return await client.chat.completions.create(model=model, messages=messages)

    answer = await agent([{"role": "user", "content": question}])
    print(answer.choices[0].message.content)
    await asyncio.to_thread(loop.close)
    print(loop.get_stats()["skills"], file=sys.stderr)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:4]))
