"""Writes one note: sentences with the steps that prove each, and the SKILL.md body made of them."""

from __future__ import annotations

from dataclasses import dataclass, field

from skill_learner.models import Claim


@dataclass
class Note:
    """A body in the making. Sentences, fenced blocks and quotations are claims with steps."""

    lines: list[str] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)

    def heading(self, text: str) -> None:
        if self.lines:
            self.lines.append("")
        self.lines.append(f"## {text}")

    def sentence(self, text: str, steps: tuple[int, ...]) -> None:
        self.lines.append(text)
        if steps:
            self.claims.append(Claim(text, steps))

    def block(self, text: str, steps: tuple[int, ...]) -> None:
        """Text letter by letter in a fence that the text cannot break out of."""
        fence = "```"
        while fence in text:
            fence += "`"
        self.lines.extend(["", fence, *text.splitlines(), fence, ""])
        self.claims.append(Claim(text, steps))

    def quotation(self, text: str, steps: tuple[int, ...]) -> None:
        self.lines.extend(["", *(f"> {line}".rstrip() for line in text.splitlines()), ""])
        self.claims.append(Claim(text, steps))

    def body(self) -> str:
        kept: list[str] = []
        for line in self.lines:
            if line or (kept and kept[-1]):
                kept.append(line)
        return "\n".join(kept).strip() + "\n"
