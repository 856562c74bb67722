"""What a command comes to, written down: its effect, its reply, and that its event is done."""

from dataclasses import replace

from agent_core.state import inbox, outbox, people
from agent_core.state.database import Connection
from agent_core.state.outbox import Debt, OutboxRow
from agent_core.state.questions import Choice
from gateway import translate
from gateway.arrivals import Arrival
from gateway.buttons import read_command
from gateway.commands.registry import Reply


def write_reply(
    connection: Connection, arrival: Arrival, reply: Reply, now: int
) -> list[OutboxRow]:
    """Do what a command does, and owe its reply; all in the caller's transaction."""
    text, rows = reply.effect(connection) if reply.effect else (reply.text, ())
    owed = list(rows)
    if text:
        owed.append(_owe_reply(connection, arrival, text, reply.buttons, now))
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
    connection: Connection, arrival: Arrival, text: str, choices: tuple[Choice, ...], now: int
) -> OutboxRow:
    """A command's reply; where a button was pressed it takes the place of what had the button.

    Presses can be made up: a message that has no such button stays as it is.
    """
    message, platform = arrival.message, arrival.row.platform
    asker = people.find_by_account(connection, platform=platform, user_id=message.sender.user_id)
    debt = replace(make_debt(arrival, text), buttons=choices, person_id=asker.id if asker else None)
    pressed = arrival.is_press and outbox.find_message(
        connection,
        platform=debt.platform,
        chat=debt.chat,
        message_id=arrival.message.message_id,
    )
    if pressed and any(read_command(c.key) == arrival.message.text for c in pressed.buttons):
        return outbox.revise(connection, outbox_id=pressed.id, body=text, buttons=choices)
    return outbox.owe(connection, debt, now=now)
