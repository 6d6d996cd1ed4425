"""The command line: one file per command; `main` finds them by name without importing them."""
