"""Anthropic's Messages API as a model provider."""

from agent_core.models.anthropic.client import create

__all__ = ["create"]
