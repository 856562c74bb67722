"""Tests of agent_core/digest."""
