"""Tests of `agent_core.memory.archive`."""
