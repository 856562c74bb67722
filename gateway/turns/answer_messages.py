"""The messages of an answer in the outbox: enqueued, shown so far, and ended."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from adapters.abilities import CanDelete, CanSendFiles
from adapters.contract import ChatAdapter
from agent_core.ids import TurnId
from agent_core.state.conversations import files
from agent_core.state.conversations.questions import Choice
from agent_core.state.conversations.turns import StoredTurn
from agent_core.state.engine.database import Connection
from agent_core.state.queues import outbox
from agent_core.state.queues.outbox import NewOutboxMessage, OutboxRow
from gateway.outbound.chat_queues import ReservedSlot
from gateway.outbound.command_buttons import caption_of
from gateway.texts import general
from gateway.turns.presenter import LiveEnding


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyTarget:
    """The messages that an answer replaces: the live message, the status line, a reserved slot.

    `buttons` stand below the end of the answer.
    """

    shown: tuple[OutboxRow | None, OutboxRow | None] = (None, None)
    slot: ReservedSlot | None = None
    buttons: tuple[Choice, ...] = ()


def open_reply(turn: StoredTurn) -> NewOutboxMessage:
    """Return an empty message in the place of a turn."""
    return NewOutboxMessage(
        chat=turn.place.chat,
        body="",
        person_id=turn.person_id,
        turn_id=turn.id,
        answers=turn.place.answers,
    )


def enqueue_reply(
    connection: Connection,
    reply: NewOutboxMessage,
    parts: Sequence[str],
    now: int,
    target: ReplyTarget,
) -> list[OutboxRow]:
    """Enqueue the parts of an answer.

    The first part becomes the text of the live message, if there is one. Otherwise it goes into
    the reserved slot, if there is one, and counts as on its way at once. The status line ends
    after the answer, because nothing may delay that.
    """
    live, status = target.shown
    rows = []
    for number, part in enumerate(parts):
        buttons = target.buttons if number == len(parts) - 1 else ()
        if live and number == 0:
            rows.append(
                outbox.finalize_live(connection, outbox_id=live.id, body=part, buttons=buttons)
            )
            continue
        is_silent = reply.is_silent or number > 0
        message = replace(reply, body=part, part=number, is_silent=is_silent, buttons=buttons)
        if target.slot and number == 0:
            rows.append(
                outbox.enqueue_sending(connection, message, anchor=target.slot.anchor, now=now)
            )
        else:
            rows.append(outbox.enqueue(connection, message, now=now))
    return [*rows, end_status(connection, status)] if status else rows


def enqueue_files(
    connection: Connection, reply: NewOutboxMessage, adapter: ChatAdapter | None, now: int
) -> list[OutboxRow]:
    """Enqueue the files that a turn made, or their names if the platform takes no files."""
    assert reply.turn_id is not None  # noqa: S101 - only turns have answers
    made = files.list_of_turn(connection, turn_id=reply.turn_id)
    if made and not isinstance(adapter, CanSendFiles):
        body = general.describe_unsent_files([file.name for file in made])
        return [outbox.enqueue(connection, replace(reply, body=body, is_silent=True), now=now)]
    return [
        outbox.enqueue(
            connection,
            replace(reply, body=caption_of(file.name), file=(file.key, file.name), is_silent=True),
            now=now,
        )
        for file in made
    ]


def end_live(
    connection: Connection, reply: NewOutboxMessage, text: str, adapter: ChatAdapter, now: int
) -> LiveEnding:
    """Make a recorded text final, and remove the status line; later text goes into a new message.

    Without such a text, the live message is deleted: it shows a call that broke off, in this
    process or an earlier one, and the next try may begin differently. A platform that can't delete
    keeps it for the answer. A draft has no message yet, and gets one for the text.
    """
    assert reply.turn_id is not None  # noqa: S101 - only turns have live messages
    live, status = outbox.find_visible(connection, turn_id=reply.turn_id)
    parts = adapter.split(text) if text.strip() else ()
    if not parts and live and isinstance(adapter, CanDelete):
        withdrawn = outbox.withdraw_live(connection, outbox_id=live.id)
        ended = (end_status(connection, status),) if status else ()
        return LiveEnding(rows=(withdrawn, *ended), is_over=True)
    target = ReplyTarget(shown=(live, status))
    rows = enqueue_reply(connection, replace(reply, is_silent=True), parts, now, target)
    return LiveEnding(rows=rows, texts=parts, is_over=bool(parts))


def end_shown(connection: Connection, turn_id: TurnId, text: str) -> list[OutboxRow]:
    """End a turn's live message with `text`, and remove its status line."""
    live, status = outbox.find_visible(connection, turn_id=turn_id)
    rows = [outbox.finalize_live(connection, outbox_id=live.id, body=text)] if live else []
    return [*rows, end_status(connection, status)] if status else rows


def end_status(connection: Connection, status: OutboxRow) -> OutboxRow:
    """Remove a turn's status line."""
    return outbox.withdraw_live(connection, outbox_id=status.id)
