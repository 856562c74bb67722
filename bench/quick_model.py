"""A model that does not inspect requests, whose cost is not the gateway's.

The emulator checks and counts every block of a request. That takes most of a millisecond for
the gateway's requests, with tools, prompt and history, and nothing for a bare bot's.
"""

import json

from aiohttp import web

from tests.emulators.anthropic import AnthropicEmulator, echo, render_events
from tests.emulators.streaming import main

USAGE = {
    "input_tokens": 100,
    "cache_read_input_tokens": 4000,
    "cache_creation_input_tokens": 100,
    "cache_creation": {"ephemeral_5m_input_tokens": 100, "ephemeral_1h_input_tokens": 0},
}


class QuickModel(AnthropicEmulator):
    """The emulator's answers, whatever the request."""

    async def respond(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer a message call; everything else like the emulator."""
        if (request.method, request.path) != ("POST", "/v1/messages"):
            return await super().respond(request)
        body = json.loads(await request.read())
        message = self.compose(body["model"], echo(body), USAGE)
        if body.get("stream"):
            return await self.stream(request, body, render_events(message, self.deltas))
        return web.json_response(message)


if __name__ == "__main__":
    main(QuickModel, "quick_model")
