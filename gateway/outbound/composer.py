"""Puts a message owed together as its platform takes it, with the file that it carries."""

import re
from collections.abc import Iterable, Mapping

from adapters.abilities import SpellsCommands
from adapters.contract import ChatAdapter
from adapters.errors import Rejected
from adapters.messages import OutboundFile, OutboundMessage
from agent_core.state.conversations import files
from agent_core.state.conversations.questions import Choice, Style
from agent_core.state.engine.database import Database
from agent_core.state.queues.outbox import OutboxRow
from gateway import conversion
from gateway.texts import general

_KEY = re.compile(r"c:(?P<words>[a-z0-9_:-]{1,38})")


def stand_for(words: str, label: str, style: Style = "plain") -> Choice:
    """A button that says `/words`. Raises `ValueError` where the words don't fit into a key."""
    key = "c:" + words.replace(" ", ":")
    if not _KEY.fullmatch(key):
        raise ValueError(f"a button can't stand for {words!r}")
    return Choice(key=key, label=label, style=style)


def read_command(key: str) -> str | None:
    """The command that a button's key stands for; anybody may say it, so anybody may forge it."""
    found = _KEY.fullmatch(key)
    return "/" + found["words"].replace(":", " ") if found else None


class CommandFormatter:
    """Knows the names of all commands."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        words = "|".join(sorted(map(re.escape, names))) or "(?!)"
        self._command = re.compile(rf"(?<![\w/:.`])/({words})\b(?!/)")

    def format_commands(self, adapter: object, text: str) -> str:
        """The house's own words, as they hold on a platform; a model's are its own."""
        if "/" not in text or not isinstance(adapter, SpellsCommands):
            return text  # to ask an adapter takes longer than to look for what may be a command
        return self._command.sub(lambda found: f"{adapter.command_prefix}{found[1]}", text)


class Composer:
    """Makes outbound messages of rows."""

    def __init__(
        self, database: Database, adapters: Mapping[str, ChatAdapter], command_formatter: CommandFormatter
    ) -> None:
        self._database = database
        self._adapters = adapters
        self._speller = command_formatter

    async def compose(self, row: OutboxRow, text: str) -> OutboundMessage:
        """A row with this text. Raises `Rejected` if its file is gone, and `StoreError`."""
        return self.word(row, text, await self.load_file(row))

    def word(self, row: OutboxRow, text: str, file: OutboundFile | None) -> OutboundMessage:
        """The same with a file at hand. What the house itself says names commands as there."""
        if row.turn_id is None:
            text = self._speller.format_commands(self._adapters[row.platform], text)
        return conversion.outbound(row, text=text, file=file)

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
    marked = general.note_repeat(body)
    return marked if len(adapter.split(marked)) == 1 else body
