"""Where platforms hand over events: on disk first, and only then is anything confirmed."""

import asyncio
from collections.abc import Callable, Mapping, Sequence

from adapters.errors import Unreachable
from adapters.ids import Address
from adapters.messages import RawEvent
from agent_core.errors import StoreError
from agent_core.state import inbox, marks
from agent_core.state.database import Connection, Database
from agent_core.state.inbox import InboxRow


class PlatformInlet:
    """The inlet of one platform; see `adapters.contract.Inlet`."""

    def __init__(
        self,
        *,
        platform: str,
        database: Database,
        is_open: Callable[[], bool],
        taken: Callable[[Sequence[InboxRow]], None],
        noticed: Callable[[Address], None],
        now: Callable[[], int],
    ) -> None:
        """`taken` is told of what was stored and is new, `noticed` of who can be reached."""
        self._platform = platform
        self._database = database
        self._is_open = is_open
        self._taken = taken
        self._now = now
        self.notice = noticed

    async def take(self, events: Sequence[RawEvent]) -> None:
        """Return once every event is on disk. Raises `Unreachable` if they can't be stored.

        Cancelled, it goes on all the same: what is stored would not be taken a second time.
        """
        if not self._is_open():
            raise Unreachable("Talaria is shutting down")
        await asyncio.shield(self._store(events))

    async def _store(self, events: Sequence[RawEvent]) -> None:
        now = self._now()
        fields = [(str(event.event_id), event.payload) for event in events]
        reached: dict[str, str] = {}
        for event in events:
            if event.position > reached.get(event.channel, ""):
                reached[event.channel] = event.position

        def work(connection: Connection) -> list[InboxRow]:
            rows = inbox.store(connection, platform=self._platform, events=fields, now=now)
            marks.advance(connection, platform=self._platform, reached=reached)
            return rows

        try:
            rows = await self._database.write("inbox.store", work)
        except StoreError as error:
            raise Unreachable(f"events can't be stored: {error}") from error
        if self._is_open():  # else they stand in the database, and are read at the next start
            self._taken(rows)

    async def marks(self) -> Mapping[str, str]:
        """How far each channel was read. Raises `Unreachable`."""
        try:
            return await self._database.read(lambda c: marks.read_all(c, platform=self._platform))
        except StoreError as error:
            raise Unreachable(f"marks can't be read: {error}") from error
