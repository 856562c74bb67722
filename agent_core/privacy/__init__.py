"""The package agent_core.privacy."""
