"""Outgoing webhooks: signed requests that tell other programs what happens to a person."""
