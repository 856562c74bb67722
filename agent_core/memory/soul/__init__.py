"""The package agent_core.memory.soul."""
