"""What runs inside a hook process. Built-in modules only: every import here is paid per tool call."""
