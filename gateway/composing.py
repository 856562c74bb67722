"""Puts a message owed together as its platform takes it, with the file that it carries."""

from collections.abc import Mapping

from adapters.contract import ChatAdapter
from adapters.errors import Rejected
from adapters.messages import OutboundFile, OutboundMessage
from agent_core.state import files
from agent_core.state.database import Database
from agent_core.state.outbox import OutboxRow
from gateway import translate, wording
from gateway.spelling import Speller


class Composer:
    """Makes outbound messages of rows."""

    def __init__(
        self, database: Database, adapters: Mapping[str, ChatAdapter], speller: Speller
    ) -> None:
        self._database = database
        self._adapters = adapters
        self._speller = speller

    async def compose(self, row: OutboxRow, text: str) -> OutboundMessage:
        """A row with this text. Raises `Rejected` if its file is gone, and `StoreError`."""
        return self.word(row, text, await self.load_file(row))

    def word(self, row: OutboxRow, text: str, file: OutboundFile | None) -> OutboundMessage:
        """The same with a file at hand. What the house itself says names commands as there."""
        if row.turn_id is None:
            text = self._speller.spell(self._adapters[row.platform], text)
        return translate.outbound(row, text=text, file=file)

    async def load_file(self, row: OutboxRow) -> OutboundFile | None:
        """The file that a row carries, if any. Raises `Rejected` if it is not there any more."""
        if row.file_key is None:
            return None
        key = row.file_key
        stored = await self._database.read(lambda c: files.find(c, key=key))
        if stored is None:
            raise Rejected("the file is no longer there.")
        name = row.file_name or key[:12]
        return OutboundFile(name=name, media_type=stored.media_type, data=stored.data)


def note_repeat(adapter: ChatAdapter, body: str) -> str:
    """The body marked as a possible repeat, where the mark fits into the message."""
    marked = wording.note_repeat(body)
    return marked if len(adapter.split(marked)) == 1 else body
