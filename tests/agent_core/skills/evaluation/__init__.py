"""Tests of how skills are tested."""
