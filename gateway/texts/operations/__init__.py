"""Sentences for the owners about the running gateway."""
