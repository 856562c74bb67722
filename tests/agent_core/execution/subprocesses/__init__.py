"""Tests of agent_core/execution/subprocesses."""
