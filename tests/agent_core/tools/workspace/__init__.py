"""Tests of agent_core/tools/workspace."""
