"""An external memory: counts what each person said, for as long as the process runs."""

from collections import Counter
from collections.abc import Mapping

from agent_core.memory.contract import (
    EntryDigest,
    Exchange,
    ExternalMemoryTool,
    ExternalPersonId,
    ExternalSessionId,
    MemoryProvider,
    MemorySnapshot,
)

TALARIA_API = 1


class NotebookMemory:
    """Counts messages. People have pseudonyms here, never names."""

    name = "Notebook"
    retained_data = "The notebook keeps nothing: it ends with the process."
    missing_functions: frozenset[str] = frozenset()
    tools: tuple[ExternalMemoryTool, ...] = ()

    def __init__(self) -> None:
        self._said: Counter[ExternalPersonId] = Counter()

    async def start(self) -> None:
        """Do nothing: there is no server."""

    async def recall(self, who: ExternalPersonId) -> str:
        """Say how much the person said before."""
        return f"The notebook has {self._said[who]} messages of this person."

    async def add_exchange(self, exchange: Exchange) -> None:
        """Count the messages of the person, once."""
        if not exchange.is_repeat:
            self._said[exchange.who] += sum(not one.is_ours for one in exchange.said)

    async def sync_entries(self, notes: MemorySnapshot) -> Mapping[EntryDigest, str]:
        """Keep no entries, but say that they arrived."""
        return {digest: str(digest) for digest in notes.entries}

    async def delete_session(self, session_id: ExternalSessionId) -> None:
        """Do nothing: counts know no session."""

    async def delete_person(self, who: ExternalPersonId) -> None:
        """Forget the count of a person."""
        self._said.pop(who, None)

    async def close(self) -> None:
        """Do nothing: there is no connection."""


def create(options: Mapping[str, str]) -> MemoryProvider:
    """Create the memory. `workspace` is Talaria's; it is not needed here."""
    return NotebookMemory()
