"""Tests of `agent_core.privacy`."""
