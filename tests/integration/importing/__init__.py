"""Imports from other assistants."""
