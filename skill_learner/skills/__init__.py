"""Skills on disk: reading and writing SKILL.md, and the library that holds them."""
