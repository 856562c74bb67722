"""Limits of a sandbox."""

from agent_core.execution.sandbox import SandboxLimits

LIMITS = SandboxLimits(memory=1, processes=1, file=20_000_000, workspace=40_000_000)
