"""Integration tests of jobs."""
