"""Commands about what the assistant learns from finished turns, and about skills."""
