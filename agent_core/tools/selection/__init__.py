"""The selection of tools: those in the prompt, the search for others, and rules for calls."""
