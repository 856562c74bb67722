"""The package agent_core.state.search."""
