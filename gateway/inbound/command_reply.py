"""What a command comes to, written down: its effect, its reply, and that its event is done."""

from collections.abc import Callable
from dataclasses import replace

from agent_core.state.conversations.questions import Choice
from agent_core.state.engine.database import Connection
from agent_core.state.people import people
from agent_core.state.queues import inbox, outbox
from agent_core.state.queues.outbox import NewOutboxMessage, OutboxRow
from gateway import conversion
from gateway.commands.registry import Reply
from gateway.inbound.events import InboundEvent
from gateway.outbound.composer import read_command

Split = Callable[[str], tuple[str, ...]]
"""Cuts what the house says into as many messages as the platform needs."""


def write_reply(
    connection: Connection, arrival: InboundEvent, reply: Reply, split: Split, now: int
) -> list[OutboxRow]:
    """Do what a command does, and owe its reply; all in the caller's transaction."""
    text, rows = reply.effect(connection) if reply.effect else (reply.text, ())
    owed = list(rows)
    if text:
        owed += _enqueue_reply(connection, arrival, split(text), reply.buttons, now)
    if reply.pending is None:
        inbox.finish(connection, inbox_id=arrival.row.id, reason="command")
    return owed


def make_outgoing(arrival: InboundEvent, text: str) -> NewOutboxMessage:
    """Words owed to where a message came from, as the answer to it."""
    address = arrival.message.address
    return NewOutboxMessage(
        platform=arrival.row.platform,
        chat=conversion.name_chat(address),
        body=text,
        answers=arrival.message.message_id,
    )


def _enqueue_reply(
    connection: Connection,
    arrival: InboundEvent,
    parts: tuple[str, ...],
    choices: tuple[Choice, ...],
    now: int,
) -> list[OutboxRow]:
    """A command's reply, with its buttons below the last part; where a button was pressed it
    takes the place of what had the button.

    Presses can be made up: a message that has no such button stays as it is.
    """
    message, platform = arrival.message, arrival.row.platform
    asker = people.find_by_account(connection, platform=platform, user_id=message.sender.user_id)
    whole = replace(make_outgoing(arrival, ""), person_id=asker.id if asker else None)
    pressed = arrival.is_press and outbox.find_message(
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
