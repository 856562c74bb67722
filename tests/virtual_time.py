"""An event loop whose time passes only while all of it waits, and then at once.

Tests of pauses are exact and quick with it, on a machine of any speed. Only for code that waits for
nothing but its loop: no thread, no process, no socket.
"""

import asyncio
import selectors
from collections.abc import Coroutine
from typing import TypeVar

T = TypeVar("T")


class _Clock(selectors.DefaultSelector):  # type: ignore[misc,valid-type]
    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        assert timeout is not None, "nothing will ever happen"
        self.now += max(timeout, 0.0)
        return super().select(0)


class _VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._clock = _Clock()
        super().__init__(self._clock)

    def time(self) -> float:
        return self._clock.now


def run_in_virtual_time(work: Coroutine[object, object, T]) -> T:
    """Run until `work` is done; return its result."""
    with asyncio.Runner(loop_factory=_VirtualLoop) as runner:
        return runner.run(work)
