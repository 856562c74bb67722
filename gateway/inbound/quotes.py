"""Judge the message that a person quotes: whether it may be shown, and whether to trust it."""

from dataclasses import replace

from adapters.messages import InboundMessage
from agent_core.state.conversations import turns
from agent_core.state.engine.database import Connection, Database
from agent_core.state.queues import outbox
from gateway.chats import name_chat
from gateway.people.rooms import RoomConversation, hide_private_quote

_NAMES = frozenset("`“„")
"""The marks of names that others chose, in sentences of Talaria; see `quote_name`."""


async def judge_quote(
    database: Database, platform: str, message: InboundMessage, place: RoomConversation
) -> InboundMessage:
    """Leave out a quote that is private here, and mark one that may hold words of others.

    A message of Talaria's own may repeat what a feed, a page or a file said. Raises `StoreError`.
    """
    if not place.is_direct:
        message = hide_private_quote(place.room, message)
    quote = message.quote
    if quote is None or not quote.is_ours:
        return message
    if await database.read(_is_own, platform, message):
        return message
    return replace(message, quote=replace(quote, is_untrusted=True))


def _is_own(connection: Connection, platform: str, message: InboundMessage) -> bool:
    """Return whether a quoted message surely holds Talaria's own words.

    Either its turn read no words of others, or it replied to a command or asked something, and
    quotes no name there. An unknown message may hold anything: it has left the outbox, or joins
    several messages.
    """
    quote = message.quote
    if quote is None or quote.message_id is None:
        return False
    row = outbox.find_message(
        connection,
        platform=platform,
        chat=name_chat(message.address),
        message_id=quote.message_id,
    )
    if row is None:
        return False
    if row.turn_id is None or row.question_id is not None:
        is_known = row.answers is not None or row.turn_id is not None
        if not is_known or _NAMES.intersection(row.body):
            return False
    return row.turn_id is None or not turns.is_untrusted(connection, turn_id=row.turn_id)
