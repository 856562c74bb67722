"""Fetches the pictures that a request shows, and keeps the last ones at hand."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence

from agent_core.models.images import choose
from agent_core.state.conversations import files
from agent_core.state.engine.database import Connection, Database
from agent_core.transcript import Message

_MOST_WEIGHT = 20_000_000
"""Bytes kept over all conversations; what is let go of is read again when needed."""


class ImageCache:
    """The bytes behind the pictures of transcripts. The database is the truth."""

    def __init__(self, database: Database, most_weight: int = _MOST_WEIGHT) -> None:
        self._database = database
        self._most = most_weight
        self._kept: OrderedDict[str, bytes] = OrderedDict()
        self._weight = 0

    async def show(self, messages: Sequence[Message]) -> Mapping[str, bytes]:
        """The bytes, by key, of the pictures that a request with these messages shows.

        One that is not there (any more) or is damaged is left out. Raises `StoreError`.
        """
        keys = choose(messages)
        found = {key: self._kept[key] for key in keys if key in self._kept}
        fresh = [key for key in keys if key not in found]
        if fresh:

            def look(connection: Connection) -> list[files.StoredFile | None]:
                return [files.find(connection, key=key) for key in fresh]

            read = await self._database.read(look)
            found |= {file.key: file.data for file in read if file}
        for key, data in found.items():
            self._keep(key, data)
        return found

    def forget(self) -> None:
        """Keep no picture at hand: some may be gone."""
        self._kept.clear()
        self._weight = 0

    def _keep(self, key: str, data: bytes) -> None:
        if key not in self._kept:
            self._weight += len(data)
        self._kept[key] = data
        self._kept.move_to_end(key)
        while self._weight > self._most:
            _, dropped = self._kept.popitem(last=False)
            self._weight -= len(dropped)
