"""The package agent_core.state.conversations."""
