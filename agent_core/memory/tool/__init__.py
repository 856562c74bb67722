"""The `memory` tool: its arguments, its results and its rules."""
