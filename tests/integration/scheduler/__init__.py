"""Integration tests of scheduler."""
