"""The resource of outgoing webhooks."""
