"""Tests of `agent_core.skills.install`."""
