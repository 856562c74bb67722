"""Introduces the chat platforms to the core, as the gateway does before it starts."""

import gateway.known_platforms  # noqa: F401
