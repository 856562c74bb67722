"""Outgoing webhooks of a whole gateway."""
