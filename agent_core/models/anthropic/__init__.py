"""Anthropic's Messages API as a model provider."""

from agent_core.models.anthropic.client import create as create

__all__ = ["create"]
