"""Sentences about what the assistant learns from finished turns."""
