"""A model that notes what it is told."""

from collections.abc import AsyncGenerator

from agent_core.models.contract import ModelAnswer, ModelRequest, TextDelta
from agent_core.transcript import TextPart
from tests.fakes.model import FakeModel, ask, call, finish, say


class Noter(FakeModel):
    """Notes what it is told: a text that begins with JSON is a `memory` call."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[TextDelta | ModelAnswer, None]:
        if request.system.startswith("Name the conversation"):
            yield finish(TextPart(text="A title"))
            return
        last = request.messages[-1]
        if last.role == "user" and "{" in last.text:
            self.plays.append(ask(call("memory", last.text[last.text.index("{") :])))
        else:
            self.plays.append(say("Noted."))
        async for piece in super().stream(request):
            yield piece
