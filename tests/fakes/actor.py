"""A model that plays a willing one: calls what it is offered, and fits its answer to a schema."""

import json
from collections.abc import AsyncGenerator

from agent_core.models.contract import ModelAnswer, ModelRequest, TextDelta
from agent_core.transcript import ToolResultPart
from tests.fakes.model import Play, ask, call, say

CITY = {"name": "Ulm", "size": 3}


class Actor:
    """Does as the last words say: "say WORDS", "a city", "weather", "use TOOL", or "hand over".

    A result is told on; that of a handover leads to the weather.
    """

    provider = "fake"

    def __init__(self) -> None:
        self.requests: list[ModelRequest] = []

    async def stream(self, request: ModelRequest) -> AsyncGenerator[TextDelta | ModelAnswer, None]:
        self.requests.append(request)
        for piece in self._act(request):
            assert isinstance(piece, TextDelta | ModelAnswer)
            yield piece

    def _act(self, request: ModelRequest) -> Play:
        number = f"c{len(self.requests)}"
        last = next(one for one in reversed(request.messages) if one.role == "tool" or one.text)
        words = next((one.text for one in reversed(request.messages) if one.role == "user"), "")
        tools = {tool.name: tool.schema for tool in request.tools}
        weather = ask(call("get_weather", '{"city": "Ulm"}', number))
        if last.role == "tool":
            texts = [part.text for part in last.parts if isinstance(part, ToolResultPart)]
            is_handover = '"assistant"' in texts[0]
            return weather if is_handover else say("It is: ", *texts)
        if "weather" in words and "get_weather" in tools:
            return weather
        used = words.rpartition("use ")[2].strip()
        if used in tools:
            return ask(call(used, "{}", number))
        if "hand over" in words:
            name = next(name for name in tools if name.startswith("transfer_to"))
            return ask(call(name, "{}", number))
        if "a city" in words:
            made = json.dumps(CITY)
            shaper = next((name for name, schema in tools.items() if '"size"' in schema), "")
            return ask(call(shaper, made, number)) if shaper else say(made[:9], made[9:])
        said = words.rpartition("say ")[2].strip()
        return say(said[:2], said[2:])

    async def check(self, model: str) -> None:
        """Accept every model."""

    async def close(self) -> None:
        """Do nothing."""
