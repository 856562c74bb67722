"""A gateway with webhooks to a receiver on loopback."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from agent_core.state.engine.database import Connection
from agent_core.state.webhooks import deliveries, webhooks
from agent_core.state.webhooks.deliveries import Delivery
from agent_core.state.webhooks.webhooks import Webhook
from gateway.app.timings import Timings
from gateway.interfaces.contexts import open_context
from gateway.operations.webhooks import OPERATIONS
from gateway.outbound.webhooks.dispatcher import WebhookTimings
from tests.emulators.receiver import Receiver
from tests.fakes.model import FakeModel, say
from tests.integration.harness import Harness, quick, running

QUICK = WebhookTimings(look=0.02, pace=0.00001, seconds=0.5)
"""The longest pause is 0.4 s."""
NEVER_AGAIN = replace(QUICK, pace=1.0)
ENDS = ("turn.ended",)


def answers(count: int) -> FakeModel:
    return FakeModel(*(say(f"answer {number}") for number in range(count)))


@asynccontextmanager
async def hooked(
    home: Path,
    model: FakeModel,
    *,
    timings: WebhookTimings = QUICK,
    allow: str = "127.0.0.1",
    **more: Any,
) -> AsyncIterator[Harness]:
    """Open a gateway that may send to loopback."""
    all_timings: Timings = replace(quick(), webhooks=timings)
    environ = {"TALARIA_WEBHOOKS__ALLOW_HOSTS": allow}
    async with running(home, model, timings=all_timings, **environ, **more) as harness:
        yield harness


async def perform(harness: Harness, verb: str, **asked: object) -> Mapping[str, Any]:
    """Perform an operation in the gateway, as the command line does."""
    context = open_context(harness.gateway)
    return await OPERATIONS[f"webhooks.{verb}"](context, asked)


async def add(
    harness: Harness,
    receiver: Receiver,
    kinds: tuple[str, ...] = (),
    *,
    person: str = "ana",
    **fields: object,
) -> Mapping[str, Any]:
    """Add a webhook of a person who has talked."""
    asked = {"name": "hook", "url": receiver.url, "kinds": kinds, "person": person, **fields}
    return await perform(harness, "add", **asked)


async def talk(harness: Harness, text: str = "hi", **fields: object) -> None:
    """Have Ana, or somebody else, ask for a turn, and wait for its end."""
    await harness.chat.says(text, **fields)
    await harness.at_rest()


async def list_deliveries(harness: Harness) -> list[Delivery]:
    """Everyone's deliveries, oldest first."""

    def look(connection: Connection) -> list[Delivery]:
        rows = connection.execute("SELECT id, person_id FROM webhooks ORDER BY id").fetchall()
        found = []
        for number, person_id in rows:
            webhook = webhooks.find(connection, person_id=person_id, webhook_id=number)
            assert webhook
            listed = deliveries.list_of(connection, webhook=webhook, before=2**62, limit=10_000)
            found += reversed(listed)
        return found

    return await harness.read(look)


async def find_webhook(harness: Harness) -> Webhook:
    """The only webhook."""

    def look(connection: Connection) -> Webhook:
        ((number, person_id),) = connection.execute("SELECT id, person_id FROM webhooks").fetchall()
        found = webhooks.find(connection, person_id=person_id, webhook_id=number)
        assert found
        return found

    return await harness.read(look)
