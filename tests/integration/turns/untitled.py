"""Turns from a script, which holds no titles."""

from collections.abc import AsyncGenerator

from agent_core.models.contract import ModelAnswer, ModelRequest, TextDelta
from agent_core.transcript import TextPart
from tests.fakes.model import FakeModel, finish
from tests.integration.harness import Harness


class Talker(FakeModel):
    """Plays the turns, but answers no title from the script."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[TextDelta | ModelAnswer, None]:
        if request.system.startswith("Name the conversation"):
            yield finish(TextPart(text="A title"))
        else:
            async for piece in super().stream(request):
                yield piece


async def dialogue(harness: Harness, text: str, answer: str, **fields: object) -> None:
    await harness.chat.says(text, **fields)
    await harness.chat.sees_text(answer)
    await harness.at_rest()
