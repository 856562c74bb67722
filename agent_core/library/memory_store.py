"""MemoryStore: what the assistant knows about one person, to read, change and undo."""

from collections.abc import Callable
from typing import Literal

from agent_core.memory.edits_within_limits import Edit, EditAction, Refusal
from agent_core.memory.store import MemoryStore as Ledger
from agent_core.memory.store import Snapshot
from agent_core.memory.undo import UndoRefused
from agent_core.state.memory.ledger import Origin
from agent_core.state.people.people import Person

MemoryName = Literal["memory", "user"]

_FAULTS = {
    "flaw": "This text can't be an entry: {detail}.",
    "full": "The list is full; remove or shorten an entry first.",
    "known": "An entry says the same already.",
    "none": "No entry contains these words.",
    "several": "Several entries contain these words; give more of them.",
    "same": "This would change nothing.",
}


class MemoryRefused(ValueError):
    """A change of memory that was not made. The text is a sentence that says why."""


class MemoryStore:
    """The memory of one person: the lists `memory` and `user`, each change a row of the ledger.

    Every method raises `StoreError`.
    """

    def __init__(self, ledger: Ledger, person: Person, now: Callable[[], int]) -> None:
        self._ledger = ledger
        self._person = person
        self._now = now

    async def read(self, target: MemoryName = "memory") -> tuple[str, ...]:
        """Return the entries of a list."""
        found: Snapshot = await self._ledger.snapshot(
            self._person.id, self._person.slug, self._now()
        )
        return found.user if target == "user" else found.memory

    async def add(self, target: MemoryName, text: str) -> None:
        """Add an entry. Raises `MemoryRefused`."""
        await self._change("add", target, text=text)

    async def replace(self, target: MemoryName, old: str, text: str) -> None:
        """Replace the one entry that contains `old`. Raises `MemoryRefused`."""
        await self._change("replace", target, text=text, old=old)

    async def remove(self, target: MemoryName, old: str) -> None:
        """Remove the one entry that contains `old`. Raises `MemoryRefused`."""
        await self._change("remove", target, old=old)

    async def undo(self) -> None:
        """Undo the newest change, whoever made it. Raises `MemoryRefused`."""
        done = await self._ledger.undo(self._person.id, self._person.slug, None, self._origin())
        if isinstance(done, UndoRefused):
            raise MemoryRefused("There is nothing to undo.")

    async def _change(
        self, action: EditAction, target: MemoryName, *, text: str = "", old: str = ""
    ) -> None:
        edit = Edit(action=action, target=target, text=text, old=old)
        done = await self._ledger.change(self._person.id, self._person.slug, edit, self._origin())
        if isinstance(done, Refusal):
            raise MemoryRefused(_FAULTS[done.fault].format(detail=done.detail))

    def _origin(self) -> Origin:
        return Origin(actor="person", now=self._now())
