"""Makes outbound messages from outbox rows."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from adapters.abilities import CanAsk
from adapters.contract import ChatAdapter
from adapters.errors import Rejected
from adapters.ids import PlatformMessageId
from adapters.messages import Button, OutboundFile, OutboundMessage, Step
from agent_core.state.conversations import files
from agent_core.state.engine.database import Database
from agent_core.state.queues.outbox import OutboxRow
from agent_core.tools.secret_scan import SecretMask
from agent_core.tools.text_cleaner import TextCleaner
from gateway.chats import read_chat
from gateway.outbound.command_buttons import spell_out
from gateway.outbound.command_formatter import CommandFormatter

_TEXTS = ("text/", "application/json")


@dataclass(frozen=True, slots=True)
class Composer:
    """Writes commands as the platform does, hides secrets, and adds the file.

    Where no buttons can be shown, the words of those that send commands stand below the text.
    """

    database: Database
    adapters: Mapping[str, ChatAdapter]
    command_formatter: CommandFormatter
    cleaner: TextCleaner

    @property
    def mask(self) -> SecretMask:
        """Hides secrets in short texts."""
        return self.cleaner.mask

    async def compose(self, row: OutboxRow, text: str) -> OutboundMessage:
        """Build a row's message with this text.

        Raises `Rejected` if its file was deleted, and `StoreError`.
        """
        return self.build(row, text, await self.load_file(row))

    def build(self, row: OutboxRow, text: str, file: OutboundFile | None) -> OutboundMessage:
        """Build a row's message with this text and file."""
        adapter = self.adapters[row.chat.platform]
        if row.turn_id is None:
            text = self.command_formatter.format_commands(adapter, text)
        if row.buttons:
            hide = self.mask.hide
            row = replace(
                row, buttons=tuple(replace(one, label=hide(one.label)) for one in row.buttons)
            )
            spelled = text if isinstance(adapter, CanAsk) else spell_out(text, row.buttons)
            text = spelled if len(adapter.split(spelled)) == 1 else text
        return make_message(row, text=self.mask.hide(text), file=file)

    async def load_file(self, row: OutboxRow) -> OutboundFile | None:
        """Read the file of a row, if it has one. Raises `Rejected` if the file was deleted."""
        if row.file is None:
            return None
        key, name = row.file
        stored = await self.database.read(files.find, key=key)
        if stored is None:
            raise Rejected("The file is no longer there.")
        data = stored.data
        if row.turn_id is not None:  # an export is the person's own and stays as it is
            name = self.mask.hide(name or "")
            if stored.media_type.startswith(_TEXTS):
                data = await self.cleaner.hide_in_file(data)
        return OutboundFile(name=name or key[:12], media_type=stored.media_type, data=data)


def make_message(
    row: OutboxRow,
    *,
    text: str,
    is_live: bool = False,
    file: OutboundFile | None = None,
    steps: tuple[Step, ...] = (),
) -> OutboundMessage:
    """Convert an outbox row for its platform; `text` is the body, or the part shown of it.

    In a room, the first part replies to the message that it answers.
    """
    address = read_chat(row.chat.address)
    shows_answered = row.answers and row.part == 0 and not address.is_direct
    return OutboundMessage(
        address=address,
        text=text,
        reply_to=PlatformMessageId(row.answers) if row.answers and shows_answered else None,
        is_silent=row.is_silent,
        is_live=is_live,
        key=row.key,
        at=row.created_at,
        buttons=tuple(
            Button(key=choice.key, label=choice.label, style=choice.style, url=choice.url)
            for choice in row.buttons
        ),
        file=file,
        steps=steps,
    )
