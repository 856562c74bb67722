"""Tests of the Discord adapter's incoming events."""
