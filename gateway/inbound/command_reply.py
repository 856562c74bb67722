"""Write the result of a command: its effect, its reply, and the end of its event."""

from collections.abc import Callable
from dataclasses import replace

from agent_core.state.conversations.questions import Choice
from agent_core.state.engine.database import Connection
from agent_core.state.people import people
from agent_core.state.queues import inbox, outbox
from agent_core.state.queues.outbox import NewOutboxMessage, OutboxRow
from gateway import conversion
from gateway.commands import Reply
from gateway.inbound.events import InboundEvent
from gateway.outbound import read_command
from gateway.texts import general, rooms

Split = Callable[[str], tuple[str, ...]]
"""Splits a text into as many messages as the platform needs."""


def write_reply(
    connection: Connection, arrived: InboundEvent, reply: Reply, split: Split, now: int
) -> list[OutboxRow]:
    """Apply a command's effect and enqueue its reply, in the caller's transaction."""
    text, rows = reply.effect(connection) if reply.effect else (reply.text, ())
    messages = list(rows)
    if not text and arrived.message.reply_address and not arrived.is_repeat:
        # The platform shows that an answer is due until one comes.
        text = general.COMMAND_TAKEN() if reply.pending or rows else general.COMMAND_DONE()
    if text:
        messages += _enqueue_reply(connection, arrived, split(text), reply.buttons, now)
    if reply.pending is None:
        inbox.finish(connection, inbox_id=arrived.row.id, reason="command")
    return messages


def make_outgoing(arrived: InboundEvent, text: str) -> NewOutboxMessage:
    """Make an answer to a message: in its chat, or in the reply that only its sender sees."""
    address = arrived.message.reply_address or arrived.message.address
    return NewOutboxMessage(
        platform=arrived.row.platform,
        chat=conversion.name_chat(address),
        body=text,
        answers=arrived.message.message_id,
    )


def make_silence_note(arrived: InboundEvent) -> NewOutboxMessage | None:
    """Make the reply to a slash command in a silent room; other messages get none."""
    is_due = arrived.message.reply_address is not None
    return make_outgoing(arrived, rooms.SILENT_HERE()) if is_due else None


def _enqueue_reply(
    connection: Connection,
    arrived: InboundEvent,
    parts: tuple[str, ...],
    choices: tuple[Choice, ...],
    now: int,
) -> list[OutboxRow]:
    """Enqueue a command's reply, with its buttons below the last part.

    The reply to a button replaces the message with the button. A press can be forged, so a
    message without such a button stays.
    """
    message, platform = arrived.message, arrived.row.platform
    asker = people.find_by_account(connection, platform=platform, user_id=message.sender.user_id)
    whole = replace(make_outgoing(arrived, ""), person_id=asker.id if asker else None)
    pressed = arrived.is_press and outbox.find_message(
        connection, platform=platform, chat=whole.chat, message_id=message.message_id
    )
    rows = []
    for number, part in enumerate(parts):
        buttons = choices if number == len(parts) - 1 else ()
        outgoing = replace(whole, body=part, part=number, buttons=buttons, is_silent=number > 0)
        if number == 0 and pressed and _has_button(pressed, message.text):
            rows.append(outbox.revise(connection, outbox_id=pressed.id, body=part, buttons=buttons))
        else:
            rows.append(outbox.enqueue(connection, outgoing, now=now))
    return rows


def _has_button(row: OutboxRow, words: str) -> bool:
    return any(read_command(choice.key) == words for choice in row.buttons)
