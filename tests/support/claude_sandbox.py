"""The real Claude Code, kept on loopback."""

from __future__ import annotations

import json
from dataclasses import dataclass

from client_sandbox import ClientSandbox
from scripted_api import Body
from scripted_messages_api import bash, tool


@dataclass
class ClaudeSandbox(ClientSandbox):
    title = "Claude Code client"
    target = "claude-code"
    program_name = "claude"
    program_variable = "SKILL_LEARNER_CLAUDE"
    settings_file = ".claude/settings.json"
    notes_file = "CLAUDE.md"
    skills_folder = ".claude/skills"

    def client_variables(self) -> dict[str, str]:
        return {
            "ANTHROPIC_BASE_URL": self.api.url,
            "ANTHROPIC_API_KEY": "not-a-real-key-for-loopback-tests",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "IS_SANDBOX": "1",  # lets root use the flag below
        }

    def client_command(self, prompt: str, *arguments: str) -> list[str]:
        headless = ("-p", prompt, "--output-format", "json", "--dangerously-skip-permissions")
        return [str(self.program), *headless, *arguments]

    def session_id(self, output: str) -> str:
        result = json.loads(output)
        assert not result["is_error"], result
        return str(result["session_id"])

    def shell(self, command: str) -> Body:
        return bash(command)

    def look_at(self, file: str) -> Body:
        return tool("Read", file_path=str(self.project / file))

    def repair(self, file: str, before: str, after: str) -> Body:
        path = str(self.project / file)
        return tool("Edit", file_path=path, old_string=before.strip(), new_string=after.strip())

    def session_requests(self) -> list[Body]:
        return [body for body in self.api.requests if body.get("tools")]
