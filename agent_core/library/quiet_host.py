"""The host of turns that a program asks for: nobody writes meanwhile, and nobody looks on."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

from agent_core.events import Host, ModelFault, Steer
from agent_core.ids import CallId


class QuietHost(Host):
    """A `Host` that shows nothing. Turns stop at their next step once `stop` is set."""

    def __init__(self) -> None:
        self.stop = asyncio.Event()
        self.faults: list[ModelFault] = []
        """The faults of models that only the program's owner can end, such as a wrong key."""
        self.has_new_fault = asyncio.Event()

    def take_steers(self) -> Sequence[Steer]:
        """Return nothing: a program asks once."""
        return ()

    def is_draining(self) -> bool:
        """Return whether the program closes the assistant."""
        return self.stop.is_set()

    async def pause(self, seconds: float) -> None:
        """Wait during an outage of the model; return early if the program closes the assistant."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.stop.wait()

    async def note_fault(self, fault: ModelFault) -> None:
        """Keep a fault of a model."""
        self.faults.append(fault)
        self.has_new_fault.set()

    def show_loading(self) -> None:
        """Show nothing."""

    def show_helpers(self, call_id: CallId, done: int, total: int) -> None:
        """Show nothing."""

    def show_progress(self, call_id: CallId, note: str) -> None:
        """Show nothing."""

    def show_plan(self, number: int, total: int, title: str) -> None:
        """Show nothing."""
