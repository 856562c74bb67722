"""What a command comes to, written down: its effect, its reply, and that its event is done."""

from collections.abc import Callable
from dataclasses import replace

from agent_core.state import inbox, outbox, people
from agent_core.state.database import Connection
from agent_core.state.outbox import Debt, OutboxRow
from agent_core.state.questions import Choice
from gateway import translate
from gateway.arrivals import Arrival
from gateway.buttons import read_command
from gateway.commands.registry import Reply

Split = Callable[[str], tuple[str, ...]]
"""Cuts what the house says into as many messages as the platform needs."""


def write_reply(
    connection: Connection, arrival: Arrival, reply: Reply, split: Split, now: int
) -> list[OutboxRow]:
    """Do what a command does, and owe its reply; all in the caller's transaction."""
    text, rows = reply.effect(connection) if reply.effect else (reply.text, ())
    owed = list(rows)
    if text:
        owed += _owe_reply(connection, arrival, split(text), reply.buttons, now)
    if reply.pending is None:
        inbox.finish(connection, inbox_id=arrival.row.id, reason="command")
    return owed


def make_debt(arrival: Arrival, text: str) -> Debt:
    """Words owed to where a message came from, as the answer to it."""
    address = arrival.message.address
    return Debt(
        platform=arrival.row.platform,
        chat=translate.name_chat(address),
        body=text,
        answers=arrival.message.message_id,
    )


def _owe_reply(
    connection: Connection,
    arrival: Arrival,
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
    whole = replace(make_debt(arrival, ""), person_id=asker.id if asker else None)
    pressed = arrival.is_press and outbox.find_message(
        connection, platform=platform, chat=whole.chat, message_id=message.message_id
    )
    rows = []
    for number, part in enumerate(parts):
        buttons = choices if number == len(parts) - 1 else ()
        debt = replace(whole, body=part, part=number, buttons=buttons, is_silent=number > 0)
        if number == 0 and pressed and _has_button(pressed, message.text):
            rows.append(outbox.revise(connection, outbox_id=pressed.id, body=part, buttons=buttons))
        else:
            rows.append(outbox.owe(connection, debt, now=now))
    return rows


def _has_button(row: OutboxRow, words: str) -> bool:
    return any(read_command(choice.key) == words for choice in row.buttons)
