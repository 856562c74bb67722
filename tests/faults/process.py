"""The real gateway, as `talaria run` starts it, with test tools and points to die at."""

import asyncio
import logging
import os
import signal
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import uvloop

from agent_core.state.engine.database import now
from agent_core.tools.contract import Declaration, Effect, ToolContext, ToolResult
from agent_core.transcript import ToolSpec
from gateway.app import build as app
from gateway.app.extensions import Extensions
from gateway.app.gateway import Gateway
from gateway.app.settings import load
from gateway.app.timings import Timings
from gateway.interfaces.http.loading import take_port
from gateway.interfaces.http.server import serving_page
from gateway.jobs.watches import WATCH
from gateway.outbound.timings import DeliveryTimings
from gateway.turns.presenter import PresenterTimings
from tests.faults.orders import Order

EFFECTS = "effects.txt"
"""One line for each effect of the tool: turn, call, text."""
KEPT = {signal.SIGTERM}
"""Signals blocked until the process handles them."""
TIMINGS = Timings(
    delivery=DeliveryTimings(first_pause=0.25, longest_pause=4.0, finish=0.5),
    display=PresenterTimings(first_words=0.3, first_status=1.0),
    first_progress=0.0,
    outage_pace=0.2,
)
"""Shorter pauses than in use: most of these tests would spend their time in them."""
_POLL = 0.005
_FETCHING = 0.3
"""Seconds that the tool `fetch` takes."""
_NUDGE = 0.02

_RING = ToolSpec(
    name="ring",
    description="Ring a bell. It can't be unrung.",
    schema='{"type":"object","properties":{"what":{"type":"string"}},"required":["what"]}',
)


_COLLAPSE = ToolSpec(
    name="collapse",
    description="Collapse.",
    schema=_RING.schema,
)


_FETCH = ToolSpec(name="fetch", description="Fetch a thing.", schema=_RING.schema)


class Killer:
    """Kill its own process when a named point is passed."""

    def __init__(self, kills: Sequence[str]) -> None:
        self._left: Counter[str] = Counter()
        for kill in kills:
            point, _, count = kill.rpartition(":")
            self._left[point] = int(count)

    def pass_point(self, point: str) -> None:
        """Die if this is the requested pass."""
        if point in self._left:
            self._left[point] -= 1
            if self._left[point] == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    def observe(self, phase: Literal["begin", "committed"], names: tuple[str, ...]) -> None:
        """Watch commits; see `agent_core.state.commit.Observer`."""
        for name in names:
            self.pass_point(f"{phase}:{name}")


@dataclass(frozen=True, slots=True)
class CollapseTool:
    """A repeatable tool that kills its process each time it runs."""

    spec: ToolSpec = _COLLAPSE
    effect: Effect = "idempotent"
    declaration = Declaration()

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        """Die."""
        os.kill(os.getpid(), signal.SIGKILL)
        return ToolResult(text="")


@dataclass(frozen=True, slots=True)
class FetchTool:
    """A repeatable tool that takes a while."""

    spec: ToolSpec = _FETCH
    effect: Effect = "idempotent"
    declaration = Declaration()

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        """Wait a moment."""
        await asyncio.sleep(_FETCHING)
        return ToolResult(text=f"fetched {arguments['what']}")


@dataclass(frozen=True, slots=True)
class RingTool:
    """A tool with an effect that must not happen twice: it appends a line to a file."""

    killer: Killer
    effects: Path

    spec: ToolSpec = _RING
    effect: Effect = "unsafe"
    declaration = Declaration()

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        """Append the line."""
        self.killer.pass_point("tool:before")
        self._ring(f"{context.turn_id} {context.call_id} {arguments['what']}\n")
        self.killer.pass_point("tool:after")
        return ToolResult(text=f"rang {arguments['what']}")

    def _ring(self, line: str) -> None:
        with self.effects.open("a", encoding="utf-8") as file:
            file.write(line)


def live(order: Order, publish: Callable[[str], None]) -> None:
    """Run the gateway until SIGTERM. Publishes `ready` once all platforms are connected."""
    logging.basicConfig(level=logging.INFO, format="%(relativeCreated)d %(name)s %(message)s")
    logging.getLogger("httpx").setLevel(logging.WARNING)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(order, publish))


async def _serve(order: Order, publish: Callable[[str], None]) -> None:
    killer = Killer(order.kills)
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, KEPT)

    async def announce(gateway: Gateway) -> None:
        while any(one.state != "connected" for one in gateway.platforms.health().values()):
            await asyncio.sleep(_POLL)
        publish("ready")

    async def nudge(gateway: Gateway) -> None:
        while order.speed > 1:  # alarms count real seconds
            gateway.wake_jobs()
            await asyncio.sleep(_NUDGE)

    def hurried() -> int:
        return order.epoch + (now() - order.epoch) * order.speed

    async def serve(gateway: Gateway) -> None:
        if "TALARIA_HTTP__PORT" in order.environ:
            async with serving_page(gateway, take_port(gateway.settings.http)):
                await stop.wait()

    ring = RingTool(killer, Path(order.home) / EFFECTS)
    await app.run(
        load(order.environ, home=Path(order.home)),
        stop=stop,
        companions=(announce, nudge, serve),
        extensions=Extensions(
            tools=(ring, CollapseTool(), FetchTool()),
            observe=killer.observe,
            now=hurried,
            timings=replace(TIMINGS, watch=_NUDGE if order.speed > 1 else WATCH),
        ),
    )
