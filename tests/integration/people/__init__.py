"""Integration tests of people."""
