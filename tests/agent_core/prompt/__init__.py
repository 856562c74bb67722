"""Tests of agent_core/prompt."""
