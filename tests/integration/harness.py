"""A whole gateway in this process, with a chat platform and a model in memory."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from agent_core.state.engine.database import Connection
from agent_core.state.engine.database import now as wall_clock
from agent_core.tools.contract import Tool
from gateway.app import build as app
from gateway.app.extensions import Extensions
from gateway.app.gateway import Gateway
from gateway.app.settings import load
from gateway.app.timings import Timings
from gateway.outbound.timings import DeliveryTimings
from gateway.turns.presenter import PresenterTimings
from tests.databases import place_database
from tests.fakes.chat import FakeChat
from tests.fakes.model import FakeModel
from tests.patience import until

T = TypeVar("T")


@dataclass
class Harness:
    """A running gateway and the fakes it talks to."""

    gateway: Gateway
    chat: FakeChat
    model: FakeModel

    async def read(self, work: Callable[[Connection], T]) -> T:
        return await self.gateway.database.read(work)

    async def until(self, is_so: Callable[[], object]) -> None:
        await until(is_so)

    async def at_rest(self) -> None:
        """Return once the gateway has no work, except for scripts, which tests keep waiting."""
        await self.until(lambda: is_settled(self.gateway))


def is_settled(gateway: Gateway) -> bool:
    """Return whether no event, turn or message is in progress, and no job is about to begin."""
    services = (gateway.router, gateway.scheduler, gateway.lanes, gateway.dispatcher)
    return all(service.is_idle() for service in services)


def quick(*, store_retry: float = 0.01, **display: float) -> Timings:
    """Return retry timings without long pauses, with the given presenter timings."""
    return Timings(
        store_retry=store_retry,
        watch=0.02,
        alerts=0.01,
        delivery=DeliveryTimings(first_pause=0.01, finish=0.01, indicator_pause=0.01),
        display=PresenterTimings(**{"first_length": 0, **display}),
    )


@asynccontextmanager
async def running(
    home: Path,
    model: FakeModel,
    *,
    chat: FakeChat | None = None,
    tools: tuple[Tool, ...] = (),
    platform: str = "fake",
    others: Mapping[str, FakeChat] | None = None,
    now: Callable[[], int] = wall_clock,
    timings: Timings | None = None,
    **environ: str,
) -> AsyncIterator[Harness]:
    """Open the gateway and stop it normally. `others` are further platforms, `now` its clock."""
    chat = chat or FakeChat()
    chat.inlet = None  # an earlier gateway may have left its own
    given = {
        "TALARIA_ACCESS__ALLOW": "*",
        "TALARIA_ACCESS__GREET": "false",
        "TALARIA_ALERTS__ENABLED": "false",
        "TALARIA_LEARNING__TURNS": "0",
        "TALARIA_LEARNING__STEPS": "0",
        **environ,
    }
    settings = load({"TALARIA_HOME": str(home), **given})
    place_database(home / "state.db")
    stop = asyncio.Event()
    opened: asyncio.Future[Gateway] = asyncio.get_running_loop().create_future()

    async def watch(gateway: Gateway) -> None:
        opened.set_result(gateway)

    extensions = Extensions(
        adapters={platform: chat, **(others or {})},
        model=model,
        tools=tools,
        now=now,
        timings=timings or quick(),
    )
    serving = asyncio.create_task(
        app.run(settings, stop=stop, companions=(watch,), extensions=extensions)
    )
    done, _ = await asyncio.wait((serving, opened), return_when=asyncio.FIRST_COMPLETED)
    if serving in done:
        await serving
    harness = Harness(gateway=opened.result(), chat=chat, model=model)
    await harness.until(lambda: chat.inlet is not None)
    try:
        yield harness
    finally:
        stop.set()
        await serving
