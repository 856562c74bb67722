"""Tests of agent_core/handing."""
