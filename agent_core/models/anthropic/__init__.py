"""The model provider for Anthropic's Messages API."""

from agent_core.models.anthropic.late import create

__all__ = ["create"]
