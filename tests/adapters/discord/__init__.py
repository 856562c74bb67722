"""Tests of the Discord adapter, most of them against the emulated Discord."""
