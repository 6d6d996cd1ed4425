"""Which skills serve a text, and whether any does well enough to be offered.

Prompt hooks run this, so nothing here imports more than `_sqlite3` or computes at import.
"""
