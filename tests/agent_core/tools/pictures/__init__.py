"""Tests of the tools that draw."""
