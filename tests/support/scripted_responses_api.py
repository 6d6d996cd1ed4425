"""A scripted Responses API, enough of it for the real Codex client."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from scripted_api import Body, ScriptedAPI, Turn


def shell(command: str, **more: Any) -> Body:
    arguments = json.dumps({"cmd": command, **more})
    return {"type": "function_call", "name": "exec_command", "arguments": arguments}


def patch(*lines: str) -> Body:
    text = "\n".join(["*** Begin Patch", *lines, "*** End Patch", ""])
    return {"type": "custom_tool_call", "name": "apply_patch", "input": text}


def script(code: str) -> Body:
    """A call in code mode, where the model writes JavaScript that calls the tools."""
    return {"type": "custom_tool_call", "name": "exec", "input": code}


def agent(message: str) -> Body:
    arguments = json.dumps({"message": message})
    space = {"namespace": "multi_agent_v1"}
    return {"type": "function_call", "name": "spawn_agent", "arguments": arguments, **space}


class ScriptedResponsesAPI(ScriptedAPI):
    route = "/responses"

    @property
    def url(self) -> str:
        return f"{super().url}/v1"

    def answer(self, turn: Turn, body: Body) -> Body:
        size = max(1, len(json.dumps(body)) // 4)
        usage = {
            "input_tokens": size,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 20,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": size + 20,
        }
        return {
            "id": self.new_id("resp"),
            "object": "response",
            "status": "completed",
            "output": [*self._message(turn.text), *map(self._call, turn.calls)],
            "usage": usage,
        }

    def _message(self, text: str) -> list[Body]:
        if not text:
            return []
        content = [{"type": "output_text", "text": text, "annotations": []}]
        role = {"role": "assistant", "status": "completed"}
        return [{"type": "message", "id": self.new_id("msg"), **role, "content": content}]

    def _call(self, call: Body) -> Body:
        ids = {"id": self.new_id("fc"), "call_id": self.new_id("call"), "status": "completed"}
        return {**call, **ids}

    def events(self, answer: Body) -> Iterator[Body]:
        head = {"id": answer["id"], "object": "response", "status": "in_progress", "output": []}
        items = [
            {"type": "response.output_item.done", "output_index": index, "item": item}
            for index, item in enumerate(answer["output"])
        ]
        opening = {"type": "response.created", "response": head}
        closing = {"type": "response.completed", "response": answer}
        for sequence, event in enumerate([opening, *items, closing]):
            yield {**event, "sequence_number": sequence}
