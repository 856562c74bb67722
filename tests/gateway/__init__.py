"""Tests of the hall."""
