"""SOUL.md, the text that defines the assistant's character, and its approved changes."""
