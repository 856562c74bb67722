"""The package agent_core.state."""
