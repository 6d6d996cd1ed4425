"""Pure steps from a session to decisions: digest, episodes, evidence, redaction, gate."""
