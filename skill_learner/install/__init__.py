"""Putting our registration into an editor's files, and taking exactly it out again."""
