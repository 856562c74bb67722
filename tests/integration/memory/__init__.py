"""Integration tests of memory."""
