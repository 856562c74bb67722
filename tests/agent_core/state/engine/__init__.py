"""Tests of `agent_core.state.engine`."""
