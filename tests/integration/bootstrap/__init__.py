"""Integration tests of bootstrap."""
