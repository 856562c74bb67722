"""Integration tests of outbound."""
