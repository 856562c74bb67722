"""Tests of `agent_core.agent.loop`."""
