"""Tests of `agent_core.state.lifecycle`."""
