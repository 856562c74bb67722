"""Honcho as external memory: people become peers, sessions become sessions."""

from agent_core.memory.external.honcho.client import create

__all__ = ["create"]
