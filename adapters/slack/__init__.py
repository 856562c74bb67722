"""Slack, through Socket Mode or signed HTTP requests."""
