"""Tests of `agent_core.agent.prompt`."""
