"""Tests of `agent_core.memory.tool`."""
