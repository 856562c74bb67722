"""Tests of `agent_core.state.queues`."""
