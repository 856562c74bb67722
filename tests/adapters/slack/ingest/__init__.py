"""Tests of the Slack adapter's incoming events."""
