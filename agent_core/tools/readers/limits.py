"""Limits of a reader process."""

from agent_core.execution.subprocesses.confinement import ReaderLimits

LIMITS = ReaderLimits(memory=1_500_000_000, cpu_seconds=10)
"""matplotlib and numpy need about 500 MB of address space; the readers need less."""
