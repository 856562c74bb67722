"""Tests of agent_core/models/anthropic."""
