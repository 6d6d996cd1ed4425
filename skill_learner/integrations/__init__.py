"""Ways to put the engine around an agent."""
