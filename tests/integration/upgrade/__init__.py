"""Integration tests of upgrade."""
