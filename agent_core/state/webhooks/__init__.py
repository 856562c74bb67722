"""Queries over outgoing webhooks and their deliveries."""
