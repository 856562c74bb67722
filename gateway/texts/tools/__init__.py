"""Texts about tools: what the assistant does, and what it asks before."""
