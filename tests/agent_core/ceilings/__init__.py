"""Tests of agent_core/recall."""
