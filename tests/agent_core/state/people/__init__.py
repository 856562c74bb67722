"""Tests of `agent_core.state.people`."""
