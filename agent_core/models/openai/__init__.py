"""The model provider for OpenAI and servers with its chat-completions API."""

from agent_core.models.openai.client import create

__all__ = ["create"]
