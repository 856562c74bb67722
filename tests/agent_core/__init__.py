"""Tests of agent_core."""
