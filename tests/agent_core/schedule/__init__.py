"""Tests of what is done at its time."""
