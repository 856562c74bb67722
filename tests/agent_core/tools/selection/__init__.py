"""Tests of the selection of tools."""
