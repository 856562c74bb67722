"""Integration tests of interfaces."""
