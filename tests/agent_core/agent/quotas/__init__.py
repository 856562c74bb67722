"""Tests of `agent_core.agent.quotas`."""
