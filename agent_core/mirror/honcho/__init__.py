"""Honcho as an outside memory: a person is a peer there, one of our sessions a session."""

from agent_core.mirror.honcho.client import create as create

__all__ = ["create"]
