"""Tests of `agent_core.skills.curation`."""
