"""Tests of `agent_core.state.memory`."""
