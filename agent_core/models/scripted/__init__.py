"""The model without a key: a stand-in that follows simple commands."""

from agent_core.models.scripted.stand_in import create

__all__ = ["create"]
