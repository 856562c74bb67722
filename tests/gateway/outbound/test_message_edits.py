"""Messages that are to read otherwise: whatever was under way, the last words win, and once."""

import asyncio
from dataclasses import dataclass
from functools import partial

import pytest

from adapters.errors import (
    AdapterError,
    ChatGone,
    MessageGone,
    MessageLocked,
    RateLimited,
    Rejected,
    Unreachable,
    Unsure,
)
from adapters.ids import Address, PlatformMessageId
from agent_core.chats import Chat, Place
from agent_core.ids import PersonId
from agent_core.state.conversations import questions, turns
from agent_core.state.conversations.questions import Choice, NewQuestion
from agent_core.state.engine.database import Connection, Database
from agent_core.state.queues import dead_letters, outbox, unreachable_chats
from agent_core.state.queues.outbox import NewOutboxMessage, OutboxRow
from tests.fakes.chat import FakeChat
from tests.gateway.outbound.conftest import begin_turn, finalize, live_of
from tests.gateway.outbound.rig import (
    CHAT,
    OTHER,
    Delivery,
    MuteChat,
    SeeingChat,
    delivering,
)
from tests.patience import until

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
            chat=Chat(platform="fake", address=CHAT),
            expires_at=9,
        )
        outgoing = NewOutboxMessage(
            chat=Chat(platform="fake", address=CHAT),
            body="Which?",
            person_id=PersonId(1),
            buttons=(BUTTON,),
            question_id=questions.ask(connection, new, now=0).id,
        )
        return outbox.enqueue(connection, outgoing, now=0)

    return await database.write("pose", work)


async def revise(delivery: Delivery, row: OutboxRow, body: str) -> None:
    revised = await delivery.database.write(
        "revise", lambda c: outbox.revise(c, outbox_id=row.id, body=body)
    )
    delivery.dispatcher.enqueue([revised])


async def ask(delivery: Delivery) -> OutboxRow:
    """Deliver a question with a button."""
    return await delivery.finish(await pose(delivery.database))


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
    delivery: Delivery, error: AdapterError | None, lost: bool
) -> None:
    delivery.chat.gate = asyncio.Event()
    delivery.chat.mishaps.extend((None, (error, lost) if error else None))
    before, row = await delivery.owe("before"), await pose(delivery.database)
    delivery.dispatcher.enqueue([before, row])
    await delivery.until_state(before, "sending")
    await revise(delivery, row, "Which? One.")
    delivery.chat.gate.set()
    await delivery.until_sent(row)
    await delivery.until_idle()
    assert shown_in(delivery.chat) == [("before", []), ("Which? One.", [])]
    assert delivery.chat.shown[1].texts == ["Which? One."]


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
    delivery: Delivery, error: AdapterError | None, lost: bool
) -> None:
    delivery.chat.gate = asyncio.Event()
    if error:
        delivery.chat.plan(error, lost=lost)
    row = await pose(delivery.database)
    delivery.dispatcher.enqueue([row])
    await delivery.until_state(row, "sending")
    await revise(delivery, row, "Which? One.")
    await revise(delivery, row, "Which? One, surely.")
    delivery.chat.gate.set()
    await delivery.until_sent(row)
    await delivery.until_idle()
    assert shown_in(delivery.chat) == [("Which? One, surely.", [])]


@pytest.mark.parametrize("error", [None, Unsure("no answer"), RateLimited("", retry_after=0.01)])
async def test_a_message_that_was_sent_is_edited(
    delivery: Delivery, error: AdapterError | None
) -> None:
    row = await ask(delivery)
    if error:
        delivery.chat.plan(error, lost=True)
    await revise(delivery, row, "Which? One.")
    await revise(delivery, row, "Which? One, surely.")
    await delivery.until_idle()
    await delivery.until_sent(row)
    assert shown_in(delivery.chat) == [("Which? One, surely.", [])]
    assert delivery.chat.looked == []


async def test_an_edit_is_on_record_where_a_look_could_take_it_for_a_message(
    database: Database,
) -> None:
    chat = SeeingChat()
    async with delivering(database, chat) as delivery:
        row = await delivery.send("hello")
        await revise(delivery, row, "hello again")
        await chat.sees_text("again")
        await delivery.until_sent(row)
        await delivery.until_idle()
    known = await database.read(lambda c: outbox.list_all_newest_ids(c, platform="fake"))
    assert known == [row.message_id, f"{row.message_id}-edited"]


@pytest.mark.parametrize("lost", [True, False])
async def test_where_a_look_could_delete_it_a_message_whose_edit_is_in_doubt_is_sent_again(
    database: Database, lost: bool
) -> None:
    chat = SeeingChat()
    async with delivering(database, chat) as delivery:
        row = await delivery.send("hello")
        chat.plan(Unsure("no answer"), lost=lost)
        await revise(delivery, row, "hello again")
        await delivery.until_idle()
        assert (await delivery.state(row)).state == "sent"
    assert [one.id for one in chat.deleted] == [row.message_id]
    assert chat.texts == ["hello again"]


@pytest.mark.parametrize("kind", [SeeingChat, FakeChat])
async def test_an_edit_that_a_kill_may_have_cut_off_is_repeated_where_no_look_could_delete_it(
    database: Database, kind: type[FakeChat]
) -> None:
    chat = kind()
    async with delivering(database, chat) as delivery:
        row = await delivery.send("hello")
        question = await ask(delivery)
    for one in (row, question):
        await database.write(
            "revise", lambda c, one=one: outbox.revise(c, outbox_id=one.id, body="changed")
        )
    async with delivering(database, chat) as delivery:
        await delivery.dispatcher.start()
        for one in (row, question):
            await delivery.until_sent(one)
        await delivery.until_idle()
        assert chat.texts == ["changed", "changed"]
        await revise(delivery, row, "changed again")
        await chat.sees_text("again")
        await delivery.until_sent(row)
    assert [one.id for one in chat.deleted] == ([row.message_id] if kind is SeeingChat else [])


async def test_words_that_change_during_an_edit_are_shown_in_the_end(delivery: Delivery) -> None:
    row = await ask(delivery)
    delivery.chat.gate = asyncio.Event()
    await revise(delivery, row, "Two.")
    await revise(delivery, row, "One.")
    delivery.chat.gate.set()
    await delivery.until_idle()
    assert (await delivery.state(row)).state == "sent"
    assert shown_in(delivery.chat) == [("One.", [])]


async def test_a_failed_edit_stays_failed_with_its_last_text(database: Database) -> None:
    chat = FakeChat(gone={"1"})
    async with delivering(database, chat) as delivery:
        row = await pose(database)
        delivery.dispatcher.enqueue([row])
        await delivery.until_state(row, "dead")
        chat.gone.clear()
        await revise(delivery, row, "Over.")
        await delivery.until_idle()
        found = await delivery.state(row)
    assert (found.state, found.body) == ("dead", "Over.")
    assert chat.shown == []


async def test_where_nothing_can_be_edited_an_outcome_is_not_a_second_message(
    database: Database,
) -> None:
    chat = MuteChat()
    async with delivering(database, chat) as delivery:
        row = await ask(delivery)
        await revise(delivery, row, "Which? One.")
        await delivery.until_idle()
        assert (await delivery.state(row)).state == "sent"
    assert chat.texts == ["Which?"]


async def test_a_question_that_somebody_deleted_is_not_asked_anew_to_show_its_outcome(
    delivery: Delivery,
) -> None:
    row = await ask(delivery)
    delivery.chat.shown.clear()
    await revise(delivery, row, "Which? One.")
    await delivery.until_idle()
    assert (await delivery.state(row)).state == "sent"
    assert delivery.chat.shown == []


async def tell(delivery: Delivery, row: OutboxRow, outcome: str) -> None:
    """Close a question with an outcome of which its person has to learn."""
    at = len("Which? ")
    revised = await delivery.database.write(
        "tell",
        lambda c: outbox.revise(c, outbox_id=row.id, body=f"Which? {outcome}", outcome_at=at),
    )
    delivery.dispatcher.enqueue([revised])


@pytest.mark.parametrize("error", [None, Unsure("no answer"), Unreachable("down")])
async def test_an_outcome_to_learn_of_comes_alone_and_once_where_nothing_can_be_edited(
    database: Database, error: AdapterError | None
) -> None:
    chat = MuteChat()
    async with delivering(database, chat) as delivery:
        row = await ask(delivery)
        if error:
            chat.plan(error, lost=False)
        await tell(delivery, row, "Saved.")
        await delivery.until_idle()
        await delivery.until_sent(row)
        await delivery.dispatcher.start()
        await delivery.until_idle()
    assert chat.texts == ["Which?", "Saved."]
    assert chat.shown[1].key != row.key


@pytest.mark.parametrize("error", [MessageGone("deleted"), MessageLocked("too old")])
async def test_an_outcome_to_learn_of_comes_alone_if_its_message_can_not_be_edited_any_more(
    delivery: Delivery, error: AdapterError
) -> None:
    row = await ask(delivery)
    delivery.chat.plan(error)
    await tell(delivery, row, "Saved.")
    await delivery.until_idle()
    assert delivery.chat.texts == ["Which?", "Saved."]


async def test_an_outcome_that_a_crash_cut_off_is_told_once(database: Database) -> None:
    chat = MuteChat()
    async with delivering(database, chat) as delivery:
        row = await ask(delivery)
    find = partial(outbox.revise, outbox_id=row.id, body="Which? Saved.", outcome_at=7)
    await database.write("tell", find)
    await database.write("apart", partial(outbox.tell_apart, outbox_id=row.id, now=0))
    assert (
        await database.write("again", partial(outbox.tell_apart, outbox_id=row.id, now=0)) is None
    )
    async with delivering(database, chat) as delivery:
        await delivery.dispatcher.start()
        await delivery.until_sent(row)
        await delivery.until_idle()
    assert chat.texts == ["Which?", "Saved."]
    known = await database.read(lambda c: outbox.list_all_newest_ids(c, platform="fake"))
    assert row.message_id in known, "a look-up would delete the question"


async def test_changed_text_of_a_deleted_message_is_sent_again(delivery: Delivery) -> None:
    row = await delivery.send("The settings")
    delivery.chat.shown.clear()
    await revise(delivery, row, "The new settings")
    await delivery.until_idle()
    assert delivery.chat.texts == ["The new settings"]
    assert delivery.chat.shown[0].key != row.key, "Discord takes an equal key for a repetition"


async def test_a_restart_shows_the_last_text_of_an_edit_in_flight(delivery: Delivery) -> None:
    row = await pose(delivery.database)
    await delivery.database.write("begun", lambda c: outbox.mark_sending(c, outbox_id=row.id))
    await delivery.chat.send_quietly("Which?")
    await delivery.database.write("over", lambda c: outbox.revise(c, outbox_id=row.id, body="One."))
    await delivery.dispatcher.start()
    await delivery.until_sent(row)
    assert [shown.texts for shown in delivery.chat.shown] == [["Which?", "One."]]


async def test_an_unreachable_chat_is_tried_once_and_later_messages_fail(
    delivery: Delivery,
) -> None:
    delivery.chat.plan(ChatGone("Nobody is there any more."))
    rows = [await delivery.owe(f"part {number}") for number in range(3)]
    delivery.dispatcher.enqueue(rows)
    await delivery.until_idle()
    states = [(await delivery.state(row)).state for row in rows]
    assert states == ["dead", "dead", "dead"]
    assert delivery.chat.shown == [], "the platform would have taken the second"
    assert await delivery.database.read(unreachable_chats.list_all) == {
        Chat(platform="fake", address=CHAT): "Nobody is there any more."
    }
    await delivery.dispatcher.revive(Chat(platform="fake", address=CHAT))
    await delivery.send("after")
    assert await delivery.database.read(unreachable_chats.list_all) == {}
    notice, after = delivery.chat.texts
    assert (
        notice
        == "While I couldn't reach you here, 3 messages were not delivered. Shall I send them now?"
    )
    assert after == "after"


async def test_a_status_line_in_an_unreachable_chat_leaves_nothing_to_retry(
    delivery: Delivery,
) -> None:
    delivery.chat.plan(ChatGone("Nobody is there any more."))
    outgoing = NewOutboxMessage(
        chat=Chat(platform="fake", address=CHAT),
        body="Searching",
        person_id=PersonId(1),
        kind="status",
    )

    def end(connection: Connection) -> OutboxRow:
        row = outbox.open_live(connection, outgoing, now=0)
        outbox.mark_found(connection, outbox_id=row.id, message_id="7")
        return outbox.finalize_live(connection, outbox_id=row.id, body="")

    row = await delivery.database.write("end", end)
    delivery.dispatcher.enqueue([row])
    await delivery.until_idle()
    assert await delivery.database.read(lambda c: outbox.find(c, outbox_id=row.id)) is None
    assert (
        await delivery.database.read(lambda c: dead_letters.count_dead_of(c, person_id=PersonId(1)))
        == 0
    )


async def test_a_mishap_of_an_edit_does_not_make_an_answer_two(delivery: Delivery) -> None:
    delivery.chat.mishaps.extend((None, (MessageGone("gone"), False), (Unsure("no answer"), True)))
    row = await delivery.send("The settings")
    await revise(delivery, row, "The new settings")
    await delivery.until_idle()
    await delivery.until_sent(row)
    assert delivery.chat.texts == ["The settings", "The new settings"]


@dataclass
class DeletingChat(FakeChat):
    """A platform that can delete messages."""

    async def delete(self, address: Address, message_id: PlatformMessageId) -> None:
        self.shown = [one for one in self.shown if one.id != message_id]


@pytest.mark.parametrize("error", [MessageLocked("too old"), Rejected("no")])
async def test_an_answer_that_can_not_be_edited_into_its_beginning_replaces_it(
    database: Database, error: AdapterError
) -> None:
    turn_id = await begin_turn(database)
    async with delivering(database, DeletingChat()) as delivery:
        live = live_of(turn_id, "The beginning")
        delivery.dispatcher.show_live(live)
        await delivery.until_idle()
        assert delivery.chat.texts == ["The beginning"]
        delivery.chat.plan(error)
        await delivery.finish(await finalize(database, turn_id, "The answer"))
        await delivery.until_idle()
        assert delivery.chat.texts == ["The answer"]


async def test_a_live_message_of_unknown_delivery_is_found_before_the_next_message_goes_out(
    delivery: Delivery,
) -> None:
    turn_id = await begin_turn(delivery.database)
    delivery.chat.mishaps.append((Unsure("no answer"), True))
    live = live_of(turn_id, "The beginning")
    delivery.dispatcher.show_live(live)
    after = await delivery.send("Another message")
    assert delivery.chat.looked == ["The beginning"]
    assert after.message_id not in delivery.chat.known[0]
    found = await delivery.database.read(lambda c: outbox.find_live(c, turn_id=turn_id))
    assert found
    assert found.message_id == delivery.chat.shown[0].id


async def test_a_live_message_does_not_open_where_its_turn_is_not_answered_any_more(
    delivery: Delivery,
) -> None:
    turn_id = await begin_turn(delivery.database)
    live = live_of(turn_id, "The answer")
    place = Place(chat=Chat(platform="fake", address=OTHER))
    await delivery.database.write("move", lambda c: turns.move(c, turn_id=turn_id, place=place))
    delivery.dispatcher.show_live(live)
    await until(lambda: live.is_over)
    assert await delivery.database.read(lambda c: outbox.find_live(c, turn_id=turn_id)) is None
    assert delivery.chat.shown == []
