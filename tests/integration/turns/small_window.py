"""A model with a small context window."""

import json
from collections.abc import AsyncGenerator
from dataclasses import replace

from agent_core.errors import ModelBusy
from agent_core.ids import CallId
from agent_core.models.contract import ModelAnswer, ModelRequest, TextDelta, Usage
from agent_core.models.token_estimate import estimate_input
from agent_core.transcript import Message, TextPart, ToolCallPart
from tests.fakes.model import FakeModel, finish
from tests.integration.harness import Harness

CAP = 8_000
SMALL = {"TALARIA_CONTEXT__CAP_TOKENS": str(CAP)}
FILLER = " and so on" * 60


class Talker(FakeModel):
    """Answers everything, and counts tokens like the estimate.

    `look 7` calls a tool seven times, a call a step; `recall tea` searches for a word.
    """

    def __init__(self) -> None:
        super().__init__()
        self.turns: list[ModelRequest] = []
        self.summaries: list[ModelRequest] = []
        self._steps = 0
        self.has_summaries = True
        self.failed: list[str] = []
        """The models that were asked for a summary and gave none."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[TextDelta | ModelAnswer, None]:
        self.requests.append(request)
        taken = Usage(input_tokens=estimate_input(request), output_tokens=9)
        if request.system.startswith("Name the conversation"):
            yield finish(TextPart(text="A title"), usage=taken)
        elif request.system.startswith("You are shown a part of a talk") and not self.has_summaries:
            self.failed.append(request.model)
            raise ModelBusy("no summary today")
        elif request.system.startswith("You are shown a part of a talk"):
            self.summaries.append(request)
            yield finish(TextPart(text=f"Summary {len(self.summaries)}."), usage=taken)
        else:
            self.turns.append(request)
            yield replace(self._answer(request.messages), usage=taken)

    def _answer(self, messages: tuple[Message, ...]) -> ModelAnswer:
        words = next(m.text for m in reversed(messages) if m.role == "user" and m.text)
        name, value, *_ = [*words.split(), "", ""]
        wanted = {"look": value, "recall": "1"}.get(name, "0")
        if self._steps < int(wanted):
            self._steps += 1
            arguments = {"query": value} if name == "recall" else {"step": self._steps}
            call_id = CallId(f"c{len(self.turns)}")
            call = ToolCallPart(call_id=call_id, name=name, arguments=json.dumps(arguments))
            return finish(call, stop="tools")
        self._steps = 0
        return finish(TextPart(text=f"You said: {words[:40]}.{FILLER}"))


async def dialogue(harness: Harness, text: str) -> None:
    seen = len(harness.chat.shown)
    await harness.chat.says(text)
    await harness.until(lambda: len(harness.chat.shown) > seen)
    await harness.at_rest()
