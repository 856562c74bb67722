"""Model calls that nobody waits for."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest

from agent_core.agent.quotas.background import call_in_background
from agent_core.models.contract import ModelAnswer, ModelRequest, TextDelta
from agent_core.state.conversations import usage
from agent_core.state.engine.database import Database
from tests.agent_core.agent.quotas.priced_request import ASKED
from tests.agent_core.state.rows import add_person
from tests.fakes.model import FakeModel, Gate, say
from tests.fakes.quotas import quotas


class ClosingModel(FakeModel):
    """Takes its time to close the connection of an answer that was taken."""

    def __init__(self) -> None:
        super().__init__([replace(say("Fine.")[-1], model="good")])
        self.gate = Gate()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[TextDelta | ModelAnswer, None]:
        try:
            async for piece in super().stream(request):
                yield piece
        finally:
            await self.gate.hold()


async def test_an_answer_that_its_caller_never_gets_is_paid_for(database: Database) -> None:
    person = await database.write("ann", add_person)
    opened, model = quotas(database), ClosingModel()
    calling = asyncio.create_task(call_in_background(model, opened, person.id, ASKED))
    await model.gate.reached.wait()
    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling
    await opened.write_broken()
    (line,) = await database.read(lambda c: usage.list_lines(c, person_id=person.id, since=0))
    assert (line.purpose, line.charged.micro_dollars) == ("broken", 11)
