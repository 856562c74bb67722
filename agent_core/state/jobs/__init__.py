"""The package agent_core.state.jobs."""
