"""Build outbound messages from outbox rows, with buttons, commands and files."""

import re
from collections.abc import Iterable, Mapping, Sequence

from adapters.abilities import SpellsCommands
from adapters.contract import ChatAdapter
from adapters.errors import Rejected
from adapters.messages import OutboundFile, OutboundMessage
from agent_core.agent import ActiveTurn
from agent_core.memory import ChangeName, list_archive_changes, load_change_index
from agent_core.state.conversations import files
from agent_core.state.conversations.questions import Choice, Style
from agent_core.state.engine.database import Connection, Database
from agent_core.state.memory.ledger import LedgerEntry
from agent_core.state.queues.outbox import OutboxRow
from agent_core.tools import SecretMask
from gateway import conversion
from gateway.texts import general, memory

_PICTURES = ("png", "jpg", "jpeg", "webp", "gif")
_TEXTS = ("text/", "application/json")
_KEY = re.compile(r"c:(?P<words>[a-z0-9_:-]{1,38})")


def stand_for(words: str, label: str, style: Style = "plain") -> Choice:
    """Make a button that sends `/words`. Raises `ValueError` if they don't fit into a key."""
    key = "c:" + words.replace(" ", ":")
    if not _KEY.fullmatch(key):
        raise ValueError(f"a button can't stand for {words!r}")
    return Choice(key=key, label=label, style=style)


def read_command(key: str) -> str | None:
    """Return the command of a button's key; a forged key only sends what anybody may send."""
    found = _KEY.fullmatch(key)
    return "/" + found["words"].replace(":", " ") if found else None


def caption_of(name: str) -> str:
    """Return the caption of a picture, since a photo shows no name; "" for any other file."""
    stem, _, suffix = name.rpartition(".")
    words = " ".join(stem.replace("-", " ").replace("_", " ").split())
    return f"{words[:1].upper()}{words[1:]}" if suffix.casefold() in _PICTURES else ""


_MOST_OFFERED = 3
"""Undo buttons below an answer; more would crowd out the answer on a phone."""


def make_undo_buttons(
    connection: Connection, active: ActiveTurn, tools: Sequence[str]
) -> tuple[Choice, ...]:
    """Make a button for each memory change of a turn, which undoes it."""
    owner = active.memory_owner
    if owner is None:
        return ()
    learned: list[tuple[LedgerEntry, ChangeName]] = []
    if "memory" in tools:
        index = load_change_index(connection, person_id=owner.person_id)
        rows = [row for row in index.rows if row.origin.actor == f"turn:{active.id}"]
        learned = [(row, index.find_number(row)) for row in rows]
    if "archive" in tools:
        learned += list_archive_changes(connection, person_id=owner.person_id, turn_id=active.id)
        learned.sort(key=lambda one: one[0].id)
    return tuple(
        stand_for(f"undo {number}", memory.offer_undo(row.change.after, row.change.before))
        for row, number in learned[-_MOST_OFFERED:]
    )


class CommandFormatter:
    """Writes commands in a text as each platform writes them."""

    def __init__(self, names: Iterable[str]) -> None:
        words = "|".join(sorted(map(re.escape, names))) or "(?!)"
        self._command = re.compile(rf"(?<![\w/:.`])/({words})\b(?!/)")

    def format_commands(self, adapter: object, text: str) -> str:
        """Format a text of the gateway for a platform; a model's text stays as it is."""
        if "/" not in text or not isinstance(adapter, SpellsCommands):
            return text  # the check of the adapter takes longer than that of the text
        return self._command.sub(lambda found: f"{adapter.command_prefix}{found[1]}", text)


class Composer:
    """Makes outbound messages from outbox rows."""

    def __init__(
        self,
        database: Database,
        adapters: Mapping[str, ChatAdapter],
        command_formatter: CommandFormatter,
        mask: SecretMask,
    ) -> None:
        self._database = database
        self.adapters = adapters
        self.command_formatter = command_formatter
        self.mask = mask

    async def compose(self, row: OutboxRow, text: str) -> OutboundMessage:
        """Build a row's message with this text.

        Raises `Rejected` if its file was deleted, and `StoreError`.
        """
        return self.build(row, text, await self.load_file(row))

    def build(self, row: OutboxRow, text: str, file: OutboundFile | None) -> OutboundMessage:
        """Build a row's message with this text and file."""
        if row.turn_id is None:
            text = self.command_formatter.format_commands(self.adapters[row.platform], text)
        return conversion.outbound(row, text=self.mask.hide(text), file=file)

    async def load_file(self, row: OutboxRow) -> OutboundFile | None:
        """Read the file of a row, if it has one. Raises `Rejected` if the file was deleted."""
        if row.file_key is None:
            return None
        key = row.file_key
        stored = await self._database.read(lambda c: files.find(c, key=key))
        if stored is None:
            raise Rejected("The file is no longer there.")
        name, data = row.file_name or key[:12], stored.data
        if row.turn_id is not None:  # an export is the person's own and stays as it is
            data = self._mask_data(data, stored.media_type)
        return OutboundFile(name=name, media_type=stored.media_type, data=data)

    def _mask_data(self, data: bytes, media_type: str) -> bytes:
        if not media_type.startswith(_TEXTS):
            return data
        try:
            return self.mask.hide(data.decode()).encode()
        except UnicodeDecodeError:
            return data


def note_repeat(adapter: ChatAdapter, body: str) -> str:
    """Mark a body as a possible repeat, if the mark fits into the message."""
    marked = general.note_repeat(body)
    return marked if len(adapter.split(marked)) == 1 else body
