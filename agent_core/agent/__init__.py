"""The package agent_core.agent."""
