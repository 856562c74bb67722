"""Tests of agent_core/memory/recall."""
