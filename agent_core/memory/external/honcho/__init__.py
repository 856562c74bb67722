"""Honcho as an outside memory: a person is a peer there, one of our sessions a session."""

from agent_core.memory.external.honcho.client import create

__all__ = ["create"]
