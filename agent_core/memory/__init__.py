"""Curated memory: what is always in the prompt."""
