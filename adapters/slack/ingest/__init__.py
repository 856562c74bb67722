"""Inbound events of Slack: Socket Mode and HTTP mode, the ordered pipeline, and catch-up."""
