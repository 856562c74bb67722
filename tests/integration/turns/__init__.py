"""Integration tests of turns."""
