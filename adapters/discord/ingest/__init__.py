"""Inbound events of Discord: the ordered pipeline, and catch-up of missed messages."""
