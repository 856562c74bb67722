"""Reviews through batches in a gateway that restarts while a batch is under way."""

import asyncio
from pathlib import Path

from agent_core.models.contract import Batches, ModelAnswer, ModelRequest
from agent_core.state.engine.database import Connection
from tests.fakes.chat import FakeChat
from tests.fakes.model import FakeModel, ask, call, say
from tests.integration.clock import GoingClock
from tests.integration.harness import running
from tests.integration.memory.learning import KEPT, SAID, SOON, remember, reviewed
from tests.patience import PATIENCE

CHEAP = "claude-haiku-5-5"
"""The default of `model.cheap`."""


class BatchingModel(FakeModel):
    """Takes batches, and plays their answers once they are ready."""

    def __init__(self, *plays: object) -> None:
        super().__init__(*plays)  # type: ignore[arg-type]
        self.submitted: dict[str, ModelRequest] = {}
        self.is_ready = False

    async def submit(self, request: ModelRequest, mark: str) -> str | None:
        self.submitted[mark] = request
        return f"batch-{mark}"

    async def find_batch(self, model: str, mark: str, since: int) -> str | None:
        return f"batch-{mark}" if mark in self.submitted else None

    async def collect(self, model: str, batch_id: str, mark: str) -> ModelAnswer | None:
        assert batch_id == f"batch-{mark}"
        if not self.is_ready:
            return None
        pieces = [piece async for piece in self.stream(self.submitted[mark])]
        return next(piece for piece in pieces if isinstance(piece, ModelAnswer))

    async def cancel(self, model: str, batch_id: str) -> None:
        raise AssertionError(batch_id)


def is_submitted(connection: Connection) -> bool:
    query = "SELECT 1 FROM tasks WHERE kind = 'review' AND payload LIKE '%\"batch-%' AND due_at > 1"
    return connection.execute(query).fetchone() is not None


async def test_a_batch_is_collected_after_a_restart_and_submitted_once(tmp_path: Path) -> None:
    model = BatchingModel(say("Fine."), ask(call("memory", remember(KEPT, SAID))))
    assert isinstance(model, Batches)
    clock, chat = GoingClock(2026, 11, 26, 12), FakeChat()
    settings = {"TALARIA_LEARNING__TURNS": "1", "TALARIA_LEARNING__BATCH": "true"}
    settings |= {"TALARIA_LEARNING__CONCLUSIONS": "false", "TALARIA_MODEL__PROVIDER": "anthropic"}
    settings["ANTHROPIC_API_KEY"] = "sk-ant-test"
    async with running(tmp_path, model, chat=chat, timings=SOON, now=clock, **settings) as harness:
        await harness.chat.says(SAID)
        await harness.chat.sees_text("Fine.")
        async with asyncio.timeout(PATIENCE):
            while not await harness.read(is_submitted):
                await asyncio.sleep(0.01)
    model.is_ready = True
    async with running(tmp_path, model, chat=chat, timings=SOON, now=clock, **settings) as harness:
        while len(model.submitted) < 2:  # the second one is the judge's
            clock.move(harness, minutes=2)
            await harness.at_rest()
        clock.move(harness, minutes=2)
        await reviewed(harness)
        assert KEPT in (await harness.chat.sees_text("Learned")).text
    assert [one.tools[0].name for one in model.submitted.values()] == ["memory", "judge"]
    assert {one.model for one in model.submitted.values()} == {CHEAP}
    assert model.requests[0].model != CHEAP
