"""Slack, through Socket Mode or signed HTTP requests."""

from adapters.slack.adapter import create

__all__ = ["create"]
