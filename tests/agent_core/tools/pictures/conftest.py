"""The turn of the digest tests, for tools that draw."""

from tests.agent_core.digest.conftest import desk

__all__ = ["desk"]
