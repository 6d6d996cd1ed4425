"""The shape of an LLM review's answer, as a JSON schema and as the one tool that takes it."""

from __future__ import annotations

from typing import Any

TOOL_NAME = "submit_review"

_EVIDENCE_SCHEMA: dict[str, Any] = {
    "type": "array",
    "description": "one entry for each claim of the skill",
    "items": {
        "type": "object",
        "properties": {
            "claim": {"type": "string", "description": "one sentence as it stands in the body"},
            "steps": {
                "type": "array",
                "items": {"type": "integer"},
                "description": "numbers of the digest's steps that prove it",
            },
        },
        "required": ["claim", "steps"],
    },
}

ANSWER_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "outcome": {"type": "string", "description": "what was tried and how it ended"},
        "skills": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "action": {
                        "type": "string",
                        "enum": ["create", "guardrail", "patch", "describe", "archive"],
                    },
                    "name": {"type": "string"},
                    "description": {
                        "type": "string",
                        "description": "create, guardrail, describe: when to use it",
                    },
                    "body": {"type": "string", "description": "create: Markdown, no front matter"},
                    "asks": {
                        "type": "array",
                        "items": {"type": "string"},
                        "description": "create: up to four other ways to ask for it",
                    },
                    "base_hash": {
                        "type": "string",
                        "description": "hash of the skill you read",
                    },
                    "old": {"type": "string", "description": "patch: text that occurs once"},
                    "new": {"type": "string", "description": "patch: the text in its place"},
                    "reason": {"type": "string", "description": "archive: why it is wrong"},
                    "evidence": _EVIDENCE_SCHEMA,
                    "confidence": {"type": "number"},
                },
                "required": ["action", "name", "evidence", "confidence"],
            },
        },
        "nothing_because": {"type": "string", "description": "the reason when skills is empty"},
    },
    "required": ["outcome", "skills", "nothing_because"],
}

SUBMIT_REVIEW_TOOL: dict[str, Any] = {
    "name": TOOL_NAME,
    "description": "Hand in the review of the session. Call it exactly once.",
    "input_schema": ANSWER_SCHEMA,
}
