"""Tests of agent_core/archive."""
