"""Integration tests of commands."""
