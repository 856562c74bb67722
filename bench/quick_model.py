"""A model that does not inspect requests, whose cost is not the gateway's.

The emulator checks and counts every block of a request. That takes most of a millisecond for
the gateway's requests, with tools, prompt and history, and nothing for a bare bot's. The tokens
are told from the length alone, because the gateway learns from them when a conversation is long.
"""

import json
from typing import Any

from aiohttp import web

from tests.emulators.anthropic import AnthropicEmulator, echo, render_events
from tests.emulators.streaming import main

_NEW = 100
"""Tokens of each request that the cache does not have."""
_BYTES_PER_TOKEN = 4


def tell_usage(length: int) -> dict[str, Any]:
    """Return the usage of a request with this many bytes."""
    return {
        "input_tokens": _NEW,
        "cache_read_input_tokens": max(0, length // _BYTES_PER_TOKEN - 2 * _NEW),
        "cache_creation_input_tokens": _NEW,
        "cache_creation": {"ephemeral_5m_input_tokens": _NEW, "ephemeral_1h_input_tokens": 0},
    }


class QuickModel(AnthropicEmulator):
    """The emulator's answers, whatever the request."""

    async def respond(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer a message call; everything else like the emulator."""
        if (request.method, request.path) != ("POST", "/v1/messages"):
            return await super().respond(request)
        content = await request.read()
        body = json.loads(content)
        message = self.compose(body["model"], echo(body), tell_usage(len(content)))
        if body.get("stream"):
            return await self.stream(request, body, render_events(message, self.deltas))
        return web.json_response(message)


if __name__ == "__main__":
    main(QuickModel, "quick_model")
