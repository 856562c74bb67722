"""The model without a key: plays a script, or follows simple commands as a stand-in."""

from agent_core.models.scripted.player import create

__all__ = ["create"]
