"""Tests of guided mode."""
