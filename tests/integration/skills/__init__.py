"""Integration tests of skills."""
