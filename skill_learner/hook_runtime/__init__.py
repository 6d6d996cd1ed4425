"""What runs inside a hook process: built-in modules only, as each import is paid per call."""
