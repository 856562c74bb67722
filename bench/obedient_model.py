"""A model that runs a command where a person writes `run: COMMAND`, and echoes everything else."""

import json
import re

from aiohttp import web

from bench.quick_model import tell_usage
from tests.emulators.anthropic import AnthropicEmulator, echo, render_events
from tests.emulators.streaming import Answer, main

_ORDER = re.compile(r"\brun: (.+)")


class ObedientModel(AnthropicEmulator):
    """Answers an order with a call of `terminal`, or of `execute_code` if it begins with `py `."""

    async def respond(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer a message call; everything else like the emulator."""
        if (request.method, request.path) != ("POST", "/v1/messages"):
            return await super().respond(request)
        content = await request.read()
        body = json.loads(content)
        message = self.compose(body["model"], _answer(body), tell_usage(len(content)))
        if body.get("stream"):
            return await self.stream(request, body, render_events(message, self.deltas))
        return web.json_response(message)


def _answer(body: dict[str, object]) -> Answer:
    said = echo(body)
    last = json.dumps(body["messages"][-1])  # type: ignore[index]
    found = None if "tool_result" in last else _ORDER.search(said.blocks[0]["text"])
    if found is None:
        return said
    block = {"type": "tool_use", "name": "terminal", "input": {"command": found[1]}}
    return Answer(blocks=[block], stop="tool_use")


if __name__ == "__main__":
    main(ObedientModel, "obedient_model")
