"""A gateway in this process with its two servers, built like `talaria run`."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import yarl

from adapters.contract import ChatAdapter
from agent_core.models.contract import Model
from agent_core.state.engine.database import now as wall_clock
from gateway.app import build as app
from gateway.app.extensions import Extensions
from gateway.app.gateway import Gateway
from gateway.app.settings import load
from gateway.app.timings import Timings
from gateway.interfaces.http.control import serving_control
from gateway.interfaces.http.loading import take_port
from gateway.interfaces.http.server import serving_page
from tests.integration.processes import free_port
from tests.patience import PATIENCE


@dataclass(frozen=True, slots=True)
class Served:
    """The gateway, and the address of its page as it is printed."""

    gateway: Gateway
    page: yarl.URL

    @property
    def address(self) -> yarl.URL:
        return self.page.with_query(None)

    @property
    def token(self) -> str:
        return self.page.query["token"]


@asynccontextmanager
async def served(
    home: Path,
    *,
    adapters: Mapping[str, ChatAdapter] | None = None,
    model: Model | None = None,
    now: Callable[[], int] = wall_clock,
    timings: Timings | None = None,
    body_seconds: float = 60.0,
) -> AsyncIterator[Served]:
    """Open the gateway, by default with the stand-in, and stop it normally."""
    settings = load({"TALARIA_HOME": str(home), "TALARIA_HTTP__PORT": str(free_port())})
    stop = asyncio.Event()
    opened: asyncio.Future[Served] = asyncio.get_running_loop().create_future()

    async def serve(gateway: Gateway) -> None:
        bound = take_port(gateway.settings.http)
        async with (
            serving_control(gateway),
            serving_page(gateway, bound, body_seconds=body_seconds) as page,
        ):
            while gateway.platforms.health()["console"].state != "connected":
                await asyncio.sleep(0.005)
            opened.set_result(Served(gateway, yarl.URL(page)))
            await asyncio.Event().wait()

    running = asyncio.create_task(
        app.run(
            settings,
            stop=stop,
            companions=(serve,),
            extensions=Extensions(
                adapters=adapters or {}, model=model, now=now, timings=timings or Timings()
            ),
        )
    )
    done, _ = await asyncio.wait(
        (running, opened), return_when=asyncio.FIRST_COMPLETED, timeout=PATIENCE
    )
    if running in done:
        await running
    try:
        yield opened.result()
    finally:
        stop.set()
        await running
