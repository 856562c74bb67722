"""Tests of named agents."""
