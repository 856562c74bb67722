"""Messages that are to read otherwise: whatever was under way, the last words win, and once."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from adapters.errors import AdapterError, ChatGone, MessageGone, RateLimited, Unreachable, Unsure
from agent_core.ids import PersonId
from agent_core.state.conversations import questions, turns
from agent_core.state.conversations.questions import Choice, NewQuestion
from agent_core.state.engine.database import Connection, Database
from agent_core.state.queues import dead_letters, outbox, unreachable_chats
from agent_core.state.queues.outbox import NewOutboxMessage, OutboxRow
from gateway.outbound.dispatcher import OutboxDispatcher
from tests.fakes.chat import FakeChat
from tests.gateway.outbound.conftest import CHAT, begin_turn, live_of
from tests.gateway.outbound.test_dispatcher import (
    OTHER,
    MuteChat,
    delivering,
    enqueue,
    state,
    until_idle,
    until_sent,
)

pytestmark = pytest.mark.process

BUTTON = Choice(key="q1:o1:00000000", label="One")


async def pose(database: Database) -> OutboxRow:
    """Owe a question with a button."""

    def work(connection: Connection) -> OutboxRow:
        new = NewQuestion(
            person_id=PersonId(1),
            kind="choice",
            text="Which?",
            choices=(BUTTON,),
            secret="0" * 8,
            place=("fake", CHAT),
            expires_at=9,
        )
        outgoing = NewOutboxMessage(
            platform="fake",
            chat=CHAT,
            body="Which?",
            person_id=PersonId(1),
            buttons=(BUTTON,),
            question_id=questions.ask(connection, new, now=0).id,
        )
        return outbox.enqueue(connection, outgoing, now=0)

    return await database.write("pose", work)


async def revise(
    database: Database, dispatcher: OutboxDispatcher, row: OutboxRow, body: str
) -> None:
    dispatcher.enqueue(
        [await database.write("revise", lambda c: outbox.revise(c, outbox_id=row.id, body=body))]
    )


async def until_sending(database: Database, row: OutboxRow) -> None:
    async with asyncio.timeout(45):
        while (await state(database, row)).state != "sending":
            await asyncio.sleep(0.002)


@asynccontextmanager
async def asked(
    database: Database, chat: FakeChat
) -> AsyncIterator[tuple[OutboxDispatcher, OutboxRow]]:
    """Deliver a question with a button."""
    async with delivering(database, chat) as dispatcher:
        row = await pose(database)
        dispatcher.enqueue([row])
        await until_sent(database, row)
        yield dispatcher, row


def shown_in(chat: FakeChat) -> list[tuple[str, list[str]]]:
    return [(shown.text, shown.labels) for shown in chat.shown]


@pytest.mark.parametrize(
    ("error", "lost"),
    [
        (None, False),
        (Unsure("no answer"), True),
        (Unsure("no answer"), False),
        (Unreachable("down"), False),
        (RateLimited("slow", retry_after=0.01), False),
    ],
)
async def test_words_that_changed_while_a_message_stood_in_the_queue_are_sent_once(
    database: Database, error: AdapterError | None, lost: bool
) -> None:
    chat = FakeChat()
    chat.gate = asyncio.Event()
    chat.mishaps.extend((None, (error, lost) if error else None))
    async with delivering(database, chat) as dispatcher:
        before, row = await enqueue(database, "before"), await pose(database)
        dispatcher.enqueue([before, row])
        await until_sending(database, before)
        await revise(database, dispatcher, row, "Which? One.")
        chat.gate.set()
        await until_sent(database, row)
        await until_idle(dispatcher)
    assert shown_in(chat) == [("before", []), ("Which? One.", [])]
    assert chat.shown[1].texts == ["Which? One."]


@pytest.mark.parametrize(
    ("error", "lost"),
    [
        (None, False),
        (Unsure("no answer"), True),
        (Unsure("no answer"), False),
        (Unreachable("down"), False),
    ],
)
async def test_words_that_change_during_the_send_are_shown_in_the_end_and_once(
    database: Database, error: AdapterError | None, lost: bool
) -> None:
    chat = FakeChat()
    chat.gate = asyncio.Event()
    if error:
        chat.plan(error, lost=lost)
    async with delivering(database, chat) as dispatcher:
        row = await pose(database)
        dispatcher.enqueue([row])
        await until_sending(database, row)
        await revise(database, dispatcher, row, "Which? One.")
        await revise(database, dispatcher, row, "Which? One, surely.")
        chat.gate.set()
        await until_sent(database, row)
        await until_idle(dispatcher)
    assert shown_in(chat) == [("Which? One, surely.", [])]


@pytest.mark.parametrize("error", [None, Unsure("no answer"), RateLimited("", retry_after=0.01)])
async def test_a_message_that_was_sent_is_edited(
    database: Database, error: AdapterError | None
) -> None:
    chat = FakeChat()
    async with asked(database, chat) as (dispatcher, row):
        if error:
            chat.plan(error, lost=True)
        await revise(database, dispatcher, row, "Which? One.")
        await revise(database, dispatcher, row, "Which? One, surely.")
        await until_idle(dispatcher)
        await until_sent(database, row)
    assert shown_in(chat) == [("Which? One, surely.", [])]
    assert chat.looked == []


async def test_words_that_change_during_an_edit_are_shown_in_the_end(database: Database) -> None:
    chat = FakeChat()
    async with asked(database, chat) as (dispatcher, row):
        chat.gate = asyncio.Event()
        await revise(database, dispatcher, row, "Two.")
        await revise(database, dispatcher, row, "One.")
        chat.gate.set()
        await until_idle(dispatcher)
        assert (await state(database, row)).state == "sent"
    assert shown_in(chat) == [("One.", [])]


async def test_a_failed_edit_stays_failed_with_its_last_text(database: Database) -> None:
    chat = FakeChat(gone={"1"})
    async with delivering(database, chat) as dispatcher:
        row = await pose(database)
        dispatcher.enqueue([row])
        async with asyncio.timeout(45):
            while (await state(database, row)).state != "dead":
                await asyncio.sleep(0.002)
        chat.gone.clear()
        await revise(database, dispatcher, row, "Over.")
        await until_idle(dispatcher)
        found = await state(database, row)
    assert (found.state, found.body) == ("dead", "Over.")
    assert chat.shown == []


async def test_where_nothing_can_be_edited_an_outcome_is_not_a_second_message(
    database: Database,
) -> None:
    chat = MuteChat()
    async with asked(database, chat) as (dispatcher, row):
        await revise(database, dispatcher, row, "Which? One.")
        await until_idle(dispatcher)
        assert (await state(database, row)).state == "sent"
    assert [shown.text for shown in chat.shown] == ["Which?"]


async def test_a_question_that_somebody_deleted_is_not_asked_anew_to_show_its_outcome(
    database: Database,
) -> None:
    chat = FakeChat()
    async with asked(database, chat) as (dispatcher, row):
        chat.shown.clear()
        await revise(database, dispatcher, row, "Which? One.")
        await until_idle(dispatcher)
        assert (await state(database, row)).state == "sent"
    assert chat.shown == []


async def test_changed_text_of_a_deleted_message_is_sent_again(database: Database) -> None:
    chat = FakeChat()
    async with delivering(database, chat) as dispatcher:
        row = await enqueue(database, "The settings")
        dispatcher.enqueue([row])
        await until_sent(database, row)
        chat.shown.clear()
        await revise(database, dispatcher, row, "The new settings")
        await until_idle(dispatcher)
    assert [shown.text for shown in chat.shown] == ["The new settings"]


async def test_a_restart_shows_the_last_text_of_an_edit_in_flight(database: Database) -> None:
    chat = FakeChat()
    row = await pose(database)
    await database.write("begun", lambda c: outbox.mark_sending(c, outbox_id=row.id))
    await chat.send_quietly("Which?")
    await database.write("over", lambda c: outbox.revise(c, outbox_id=row.id, body="One."))
    async with delivering(database, chat) as dispatcher:
        await dispatcher.start()
        await until_sent(database, row)
    assert [shown.texts for shown in chat.shown] == [["Which?", "One."]]


async def test_an_unreachable_chat_is_tried_once_and_later_messages_fail(
    database: Database,
) -> None:
    chat = FakeChat()
    chat.plan(ChatGone("Nobody is there any more."))
    async with delivering(database, chat) as dispatcher:
        rows = [await enqueue(database, f"part {number}") for number in range(3)]
        dispatcher.enqueue(rows)
        await until_idle(dispatcher)
        states = [(await state(database, row)).state for row in rows]
        assert states == ["dead", "dead", "dead"]
        assert chat.shown == [], "the platform would have taken the second"
        assert await database.read(unreachable_chats.list_all) == {
            ("fake", CHAT): "Nobody is there any more."
        }
        await dispatcher.revive("fake", CHAT)
        after = await enqueue(database, "after")
        dispatcher.enqueue([after])
        await until_sent(database, after)
        assert await database.read(unreachable_chats.list_all) == {}
    assert [shown.text for shown in chat.shown] == ["after"]


async def test_a_status_line_in_an_unreachable_chat_leaves_nothing_to_retry(
    database: Database,
) -> None:
    chat = FakeChat()
    chat.plan(ChatGone("Nobody is there any more."))
    outgoing = NewOutboxMessage(
        platform="fake", chat=CHAT, body="Searching", person_id=PersonId(1), kind="status"
    )

    def end(connection: Connection) -> OutboxRow:
        row = outbox.open_live(connection, outgoing, now=0)
        outbox.mark_found(connection, outbox_id=row.id, message_id="7")
        return outbox.finalize_live(connection, outbox_id=row.id, body="")

    async with delivering(database, chat) as dispatcher:
        row = await database.write("end", end)
        dispatcher.enqueue([row])
        await until_idle(dispatcher)
        assert await database.read(lambda c: outbox.find(c, outbox_id=row.id)) is None
        assert (
            await database.read(lambda c: dead_letters.count_dead_of(c, person_id=PersonId(1))) == 0
        )


async def test_a_mishap_of_an_edit_does_not_make_an_answer_two(database: Database) -> None:
    chat = FakeChat()
    chat.mishaps.extend((None, (MessageGone("gone"), False), (Unsure("no answer"), True)))
    async with delivering(database, chat) as dispatcher:
        row = await enqueue(database, "The settings")
        dispatcher.enqueue([row])
        await until_sent(database, row)
        await revise(database, dispatcher, row, "The new settings")
        await until_idle(dispatcher)
        await until_sent(database, row)
    assert [shown.text for shown in chat.shown] == ["The settings", "The new settings"]


async def test_a_live_message_does_not_open_where_its_turn_is_not_answered_any_more(
    database: Database,
) -> None:
    chat = FakeChat()
    turn_id = await begin_turn(database)
    live = live_of(turn_id, "The answer")
    place = ("fake", OTHER, None)
    await database.write("move", lambda c: turns.move(c, turn_id=turn_id, place=place))
    async with delivering(database, chat) as dispatcher:
        dispatcher.show_live(live)
        async with asyncio.timeout(45):
            while not live.is_over:
                await asyncio.sleep(0.002)
        assert await database.read(lambda c: outbox.find_live(c, turn_id=turn_id)) is None
    assert chat.shown == []
