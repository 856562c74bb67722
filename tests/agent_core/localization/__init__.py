"""Tests of `agent_core.localization`."""
