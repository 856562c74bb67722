"""Tests of `agent_core.memory.external`."""
