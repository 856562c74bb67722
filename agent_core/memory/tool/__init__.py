"""The package agent_core.memory.tool."""
