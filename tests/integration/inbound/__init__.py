"""Integration tests of inbound."""
