"""A scripted Messages API, enough of it for the real Claude Code client."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from scripted_api import Body, ScriptedAPI, Turn


def tool(name: str, **given: Any) -> Body:
    return {"type": "tool_use", "name": name, "input": given}


def bash(command: str) -> Body:
    return tool("Bash", command=command, description="run it")


class ScriptedMessagesAPI(ScriptedAPI):
    route = "/v1/messages"

    def is_side_request(self, body: Body) -> bool:
        """Titles and probes: they offer the model no tools."""
        return not body.get("tools")

    def answer(self, turn: Turn, body: Body) -> Body:
        blocks: list[Body] = [{"type": "text", "text": turn.text}] if turn.text else []
        blocks += [{**call, "id": self.new_id("toolu")} for call in turn.calls]
        return {
            "id": self.new_id("msg"),
            "type": "message",
            "role": "assistant",
            "model": body.get("model", "scripted"),
            "content": blocks,
            "stop_reason": "tool_use" if turn.calls else "end_turn",
            "stop_sequence": None,
            "usage": {
                "input_tokens": max(1, len(json.dumps(body)) // 4),
                "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": 0,
                "output_tokens": 20,
            },
        }

    def events(self, answer: Body) -> Iterator[Body]:
        opening = {**answer, "content": [], "stop_reason": None}
        yield {"type": "message_start", "message": opening}
        for index, block in enumerate(answer["content"]):
            if block["type"] == "text":
                empty, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
            else:
                empty = {**block, "input": {}}
                delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
            yield {"type": "content_block_start", "index": index, "content_block": empty}
            yield {"type": "content_block_delta", "index": index, "delta": delta}
            yield {"type": "content_block_stop", "index": index}
        stop = {"stop_reason": answer["stop_reason"], "stop_sequence": None}
        yield {"type": "message_delta", "delta": stop, "usage": answer["usage"]}
        yield {"type": "message_stop"}

    def other_route(self, route: str, size: int) -> Body | None:
        return {"input_tokens": max(1, size // 4)} if route.endswith("/count_tokens") else None
