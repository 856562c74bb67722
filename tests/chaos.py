"""A slow machine on demand: `--chaos SEED` delays threads, sockets and the event loop at random.

Only what a busy machine may do anyway: a descriptor is seen later than it is ready, a thread works
later, the loop stands still. A test that looks before it waits fails soon. The seed gives each test
its own delays, which are the same in each run as far as threads allow.
"""

import asyncio
import random
import selectors
import time
from collections.abc import Callable, Mapping
from typing import Any
from zlib import crc32

import pytest

from agent_core.state.engine.connection import ThreadedConnection

_HIDES = 0.3
"""The share of ready descriptors that the loop does not see yet."""
_STALLS = 0.01
_LONGEST_STALL, _LONGEST_DELAY = 0.05, 0.03
"""Seconds."""

LoopFactory = Callable[[], asyncio.AbstractEventLoop]

_dice = random.Random()


class _SlowSelector(selectors.DefaultSelector):  # type: ignore[misc,valid-type]
    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if _dice.random() < _STALLS:
            time.sleep(_dice.random() * _LONGEST_STALL)
        ready = super().select(timeout)
        seen = [one for one in ready if _dice.random() >= _HIDES]
        if ready and not seen:
            time.sleep(0.0005)
        return seen


class _SlowLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        super().__init__(_SlowSelector())

    def run_in_executor(self, executor: Any, func: Callable[..., Any], *args: Any) -> Any:
        delay = _delay()

        def work() -> Any:
            time.sleep(delay)
            return func(*args)

        return super().run_in_executor(executor, work)


def _delay() -> float:
    return _dice.random() ** 5 * _LONGEST_DELAY


class Chaos:
    """The plug-in of one run."""

    def __init__(self, seed: str) -> None:
        self._seed = seed
        run = ThreadedConnection.run

        async def run_slowly(connection: ThreadedConnection, work: Callable[[Any], Any]) -> Any:
            before, after = _delay(), _delay()

            def work_slowly(sqlite: Any) -> Any:
                time.sleep(before)
                try:
                    return work(sqlite)
                finally:
                    time.sleep(after)

            return await run(connection, work_slowly)

        ThreadedConnection.run = run_slowly  # type: ignore[method-assign]

    def pytest_report_header(self) -> str:
        return f"chaos: {self._seed}"

    def pytest_asyncio_loop_factories(
        self,
    ) -> Mapping[str, LoopFactory]:
        return {"chaos": _SlowLoop}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        _dice.seed(crc32(f"{self._seed} {item.nodeid}".encode()))
