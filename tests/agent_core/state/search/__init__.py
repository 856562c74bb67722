"""Tests of `agent_core.state.search`."""
