"""A free line that is held for a message while that is being written down.

Whatever else goes there waits behind it, so that never two messages of one line are in doubt at
once: where a platform is searched by numbers, one could be taken for the other.
"""

import asyncio
from collections.abc import Sequence

from adapters.ids import PlatformMessageId
from agent_core.state.outbox import OutboxRow
from gateway.doors import Chat
from gateway.translate import Place


class Lead:
    """Stands in a line in place of what is to come. It has to be ended, whatever happens."""

    def __init__(self, place: Place, line: Chat, anchor: PlatformMessageId | None) -> None:
        """`anchor` is what is to be noted with the message; see `outbox.mark_sending`."""
        self.place = place
        self.line = line
        self.anchor = anchor
        self._rows: asyncio.Future[Sequence[OutboxRow]] = asyncio.get_running_loop().create_future()

    def is_for(self, place: Place) -> bool:
        """True if a message to this place may take the lead."""
        return (self.place.platform, self.place.chat) == (place.platform, place.chat)

    def end(self, rows: Sequence[OutboxRow] = ()) -> None:
        """The rows go on in its place; a second call does nothing."""
        if not self._rows.done():
            self._rows.set_result(rows)

    async def wait(self) -> Sequence[OutboxRow]:
        """What came of it, once it was ended."""
        return await self._rows
