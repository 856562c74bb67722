"""Tests of `agent_core.state.conversations`."""
