"""Slack's rooms, one by one and joined."""
