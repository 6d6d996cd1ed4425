"""Reviewers: what turns a session into proposals."""
