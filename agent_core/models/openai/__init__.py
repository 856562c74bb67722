"""Servers that speak OpenAI's chat completions as a model provider."""

from agent_core.models.openai.client import create

__all__ = ["create"]
