"""Putting active skills before the agent: links in its skills folder, an index in its notes."""
