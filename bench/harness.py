"""The gateway as `talaria run` starts it, with a task that notices event loop blocks.

`python -m bench.harness`. The task wants to run every 10 ms and records its delay. SIGUSR1
prints `lag MAX P99 WORK` in milliseconds to standard output and resets the record. WORK is the
most time of the processor that the loop used between two runs: unlike the delays, it does not
change with what else the machine does.
"""

import asyncio
import signal
import sys
import time

import uvloop

from gateway.app.build import run
from gateway.app.gateway import Gateway
from gateway.app.settings import environment, load

TICK = 0.010


class Ticker:
    """Measures delays of the event loop."""

    def __init__(self) -> None:
        self._late: list[float] = []
        self._most_work = 0.0

    async def tick(self, _: Gateway) -> None:
        """Tick until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            due, worked = loop.time() + TICK, time.thread_time()
            await asyncio.sleep(TICK)
            self._late.append(max(0.0, loop.time() - due))
            self._most_work = max(self._most_work, time.thread_time() - worked)

    def report(self) -> None:
        """Print the delays, and reset them."""
        late = sorted(self._late) or [0.0]
        longest, usual, work = late[-1], late[len(late) * 99 // 100], self._most_work
        self._late, self._most_work = [], 0.0
        print(f"lag {longest * 1000:.1f} {usual * 1000:.1f} {work * 1000:.1f}", flush=True)


async def announce(gateway: Gateway) -> None:
    """Tell that the start is over once the platforms have connected, as `talaria run` does."""
    while any(  # noqa: ASYNC110 - adapters tell their state when asked
        one.state == "starting" for one in gateway.platforms.health().values()
    ):
        await asyncio.sleep(TICK)
    gateway.ready.emit(None)


async def main() -> None:
    """Serve until SIGTERM."""
    stop = asyncio.Event()
    ticker = Ticker()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, stop.set)
    loop.add_signal_handler(signal.SIGUSR1, ticker.report)
    await run(load(environment()), stop=stop, companions=(ticker.tick, announce))


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main())
    sys.exit()
