"""Delivery: what is owed is paid in order, once, through every kind of mishap."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest

from adapters.contract import Pace
from adapters.errors import (
    AdapterError,
    ChatGone,
    MessageGone,
    RateLimited,
    Rejected,
    Unreachable,
    Unsure,
)
from adapters.ids import Address
from agent_core.ids import OutboxId, PersonId
from agent_core.localization import use_language
from agent_core.state.engine.database import Database
from agent_core.state.queues import dead_letters, outbox
from agent_core.state.queues.outbox import NewOutboxMessage, OutboxRow
from agent_core.tools import SecretMask
from gateway.conversion import Place, name_chat
from gateway.outbound.channel import CommandFormatter, Composer
from gateway.outbound.dispatcher import DeliveryTimings, OutboxDispatcher
from gateway.outbound.live_message import LiveMessage
from gateway.texts import general
from tests.fakes.chat import FakeChat
from tests.gateway.outbound.conftest import CHAT

OTHER = name_chat(Address(chat_id="2", is_direct=True))
PLACE = Place(platform="fake", chat=CHAT)


QUICK = DeliveryTimings(first_pause=0.01, finish=0.01)


@dataclass
class MuteChat(FakeChat):
    """A platform without edits."""

    edit = None  # type: ignore[assignment]


class _Over(Exception):
    pass


@asynccontextmanager
async def delivering(
    database: Database, chat: FakeChat, timings: DeliveryTimings = QUICK
) -> AsyncIterator[OutboxDispatcher]:
    try:
        async with asyncio.TaskGroup() as group:
            yield OutboxDispatcher(
                group=group,
                database=database,
                composer=Composer(database, {"fake": chat}, CommandFormatter([]), SecretMask()),
                reroute=lambda *_: None,
                now=lambda: 1,
                timings=timings,
            )
            raise _Over
    except* _Over:
        pass


async def enqueue(database: Database, body: str, chat: str = CHAT) -> OutboxRow:
    outgoing = NewOutboxMessage(platform="fake", chat=chat, body=body, person_id=PersonId(1))
    return await database.write("owe", lambda c: outbox.enqueue(c, outgoing, now=0))


async def state(database: Database, row: OutboxRow) -> OutboxRow:
    found = await database.read(lambda c: outbox.find(c, outbox_id=row.id))
    assert found
    return found


async def until_sent(database: Database, row: OutboxRow) -> OutboxRow:
    return await until_state(database, row, "sent")


async def until_idle(dispatcher: OutboxDispatcher) -> None:
    async with asyncio.timeout(45):
        while not dispatcher.is_idle():
            await asyncio.sleep(0.002)


async def until_state(database: Database, row: OutboxRow, wanted: str) -> OutboxRow:
    async with asyncio.timeout(45):
        while (found := await state(database, row)).state != wanted:
            await asyncio.sleep(0.005)
    return found


async def test_messages_of_a_chat_arrive_in_the_order_they_were_queued(database: Database) -> None:
    chat = FakeChat()
    async with delivering(database, chat) as dispatcher:
        rows = [await enqueue(database, f"part {number}") for number in range(5)]
        dispatcher.enqueue(rows)
        assert await chat.sees(5) == [f"part {number}" for number in range(5)]
        await until_sent(database, rows[-1])


@pytest.mark.parametrize("error", [Unreachable("down"), RateLimited("slow", retry_after=0.01)])
async def test_an_undelivered_message_is_sent_again(
    database: Database, error: AdapterError
) -> None:
    chat = FakeChat()
    chat.plan(error)
    async with delivering(database, chat) as dispatcher:
        row = await enqueue(database, "hello")
        dispatcher.enqueue([row])
        assert (await until_sent(database, row)).message_id == "1"
    assert [shown.text for shown in chat.shown] == ["hello"]
    assert chat.looked == []


async def test_an_answer_that_was_lost_after_the_effect_is_found_and_not_repeated(
    database: Database,
) -> None:
    chat = FakeChat()
    chat.plan(Unsure("no answer"), lost=True)
    async with delivering(database, chat) as dispatcher:
        row = await enqueue(database, "hello")
        dispatcher.enqueue([row])
        await until_sent(database, row)
    assert [shown.text for shown in chat.shown] == ["hello"]
    assert chat.looked == ["hello"]


async def test_an_unsure_message_that_is_not_there_is_sent(database: Database) -> None:
    chat = FakeChat()
    chat.plan(Unsure("no answer"))
    async with delivering(database, chat) as dispatcher:
        row = await enqueue(database, "hello")
        dispatcher.enqueue([row])
        await until_sent(database, row)
    assert [shown.text for shown in chat.shown] == ["hello"]


@dataclass
class CountingChat(FakeChat):
    """A platform whose topics share the ids of their group, in a process that has seen none."""

    def newest(self, _: Address) -> None:
        return None

    def count_of(self, address: Address) -> str:
        return address.chat_id


async def test_a_lookup_knows_the_ids_of_all_topics(database: Database) -> None:
    """Else it would try, and overwrite, what an earlier process said in another topic."""
    chat = CountingChat()
    topic = name_chat(Address(chat_id="-77", thread_id="17", is_direct=False))
    group = name_chat(Address(chat_id="-77", is_direct=False))
    other = name_chat(Address(chat_id="-778", is_direct=False))
    async with delivering(database, chat) as dispatcher:
        for place in (topic, other):
            row = await enqueue(database, "said before", place)
            dispatcher.enqueue([row])
            await until_sent(database, row)
        chat.plan(Unsure("no answer"))
        doubtful = await enqueue(database, "in doubt", group)
        dispatcher.enqueue([doubtful])
        await until_sent(database, doubtful)
    assert [shown.text for shown in chat.shown] == ["said before", "said before", "in doubt"]
    assert chat.known == [[chat.shown[0].id]]


async def test_a_message_with_unknown_delivery_waits_for_the_platform(database: Database) -> None:
    chat = FakeChat()
    chat.plan(Unsure("no answer"), lost=True)
    for _ in range(3):
        chat.plan(Unreachable("still down"))
    async with delivering(database, chat) as dispatcher:
        row = await enqueue(database, "hello")
        dispatcher.enqueue([row])
        await until_sent(database, row)
    assert [shown.text for shown in chat.shown] == ["hello"]
    assert len(chat.looked) == 4


async def test_a_message_that_cannot_be_reconciled_is_repeated_with_a_note(
    database: Database,
) -> None:
    chat = FakeChat()
    chat.plan(Unsure("no answer"), lost=True)
    for _ in range(4):
        chat.plan(Unsure("too many to look through"))
    async with delivering(database, chat) as dispatcher:
        row = await enqueue(database, "hello")
        dispatcher.enqueue([row])
        await until_sent(database, row)
    marked = "(You may have received this before.)\n\nhello"
    assert [shown.text for shown in chat.shown] == ["hello", marked]
    assert len(chat.looked) == 4


async def test_a_message_is_looked_for_behind_the_newest_before_it(database: Database) -> None:
    chat = FakeChat()
    await chat.send_quietly("somebody else's")
    chat.plan(Unsure("no answer"), lost=True)
    async with delivering(database, chat) as dispatcher:
        row = await enqueue(database, "hello")
        dispatcher.enqueue([row])
        await until_sent(database, row)
    assert (await state(database, row)).anchor == "1"
    assert chat.known == [["1"]]


async def test_a_refused_message_is_set_aside_with_a_notice(database: Database) -> None:
    chat = FakeChat()
    chat.plan(Rejected("It is too strange."))
    async with delivering(database, chat) as dispatcher:
        row = await enqueue(database, "strange")
        dispatcher.enqueue([row])
        notice = await chat.sees_text("/retry")
        assert notice.text == general.describe_dead()
        assert (await until_state(database, row, "dead")).reason == "It is too strange."


async def test_an_unreachable_chat_gets_no_notice(database: Database) -> None:
    chat = FakeChat()
    chat.plan(ChatGone("blocked"))
    async with delivering(database, chat) as dispatcher:
        row = await enqueue(database, "hello")
        dispatcher.enqueue([row])
        await until_state(database, row, "dead")
        later = await enqueue(database, "elsewhere", OTHER)
        dispatcher.enqueue([later])
        await until_sent(database, later)
    assert [shown.text for shown in chat.shown] == ["elsewhere"]


async def test_a_rate_limit_of_one_chat_delays_no_other(database: Database) -> None:
    chat = FakeChat()
    chat.plan(RateLimited("slow", retry_after=600))
    async with delivering(database, chat) as dispatcher:
        deferred = await enqueue(database, "held")
        dispatcher.enqueue([deferred])
        await until_state(database, deferred, "owed")
        await until_idle(dispatcher)
        dispatcher.wake("fake", CHAT)  # a person who writes does not shorten it
        free = await enqueue(database, "free", OTHER)
        dispatcher.enqueue([free])
        await until_sent(database, free)
        await until_idle(dispatcher)
        assert (await state(database, deferred)).state == "owed"
        assert [shown.text for shown in chat.shown] == ["free"]


async def test_a_reconnected_person_gets_waiting_messages_at_once(
    database: Database,
) -> None:
    chat = FakeChat()
    chat.plan(Unreachable("nobody is there"))
    slow = DeliveryTimings(first_pause=600, longest_pause=600)
    async with delivering(database, chat, slow) as dispatcher:
        deferred = await enqueue(database, "held")
        dispatcher.enqueue([deferred])
        await until_state(database, deferred, "owed")
        await until_idle(dispatcher)
        dispatcher.wake("fake", CHAT)
        await until_sent(database, deferred)


async def test_a_message_in_doubt_is_not_looked_for_before_it_can_have_arrived(
    database: Database,
) -> None:
    chat = FakeChat()
    chat.plan(Unsure("no answer"))
    slow = DeliveryTimings(first_pause=0.01, finish=600)
    async with delivering(database, chat, slow) as dispatcher:
        doubtful = await enqueue(database, "doubtful")
        dispatcher.enqueue([doubtful])
        await until_state(database, doubtful, "unsure")
        await until_idle(dispatcher)
        dispatcher.wake("fake", CHAT)
        free = await enqueue(database, "free", OTHER)
        dispatcher.enqueue([free])
        await until_sent(database, free)
        await until_idle(dispatcher)
        assert (await state(database, doubtful)).state == "unsure"


async def test_messages_of_an_earlier_process_are_reconciled_first(database: Database) -> None:
    chat = FakeChat()
    row = await enqueue(database, "hello")
    await database.write("sending", lambda c: outbox.mark_sending(c, outbox_id=row.id))
    async with delivering(database, chat) as dispatcher:
        await dispatcher.start()
        await until_sent(database, row)
    assert chat.looked == ["hello"]
    assert [shown.text for shown in chat.shown] == ["hello"]


async def test_a_damaged_message_is_never_sent(database: Database) -> None:
    chat = FakeChat()
    row = await enqueue(database, "hello")
    await database.write(
        "damage",
        lambda c: c.execute("UPDATE outbox SET body = 'evil' WHERE id = :id", {"id": row.id}),
    )
    async with delivering(database, chat) as dispatcher:
        await dispatcher.start()
        await until_state(database, row, "dead")
        await chat.sees_text("damaged")
        person = {"person_id": PersonId(1), "platform": "fake", "chat": CHAT}
        assert not await database.read(lambda c: dead_letters.has_dead(c, **person)), (
            "no use to retry"
        )
    assert all("evil" not in shown.text for shown in chat.shown)


def live_text(text: str) -> LiveMessage:
    live = LiveMessage(NewOutboxMessage(platform="fake", chat=CHAT, body="", person_id=PersonId(1)))
    live.text = text
    return live


async def finalize(database: Database, live: LiveMessage, body: str) -> OutboxRow:
    live.is_over = True
    assert live.row is not None
    row_id: OutboxId = live.row.id
    return await database.write(
        "settle", lambda c: outbox.finalize_live(c, outbox_id=row_id, body=body)
    )


async def test_a_live_message_grows_and_ends_as_the_answer(database: Database) -> None:
    chat = FakeChat()
    async with delivering(database, chat) as dispatcher:
        live = live_text("The answer")
        dispatcher.show_live(live)
        await chat.sees_text("The answer")
        live.text = "The answer is"
        dispatcher.show_live(live)
        await chat.sees_text("The answer is")
        row = await finalize(database, live, "The answer is 42.")
        dispatcher.enqueue([row])
        await until_sent(database, row)
    assert [shown.texts for shown in chat.shown] == [
        ["The answer", "The answer is", "The answer is 42."]
    ]


async def test_a_live_message_without_a_response_becomes_the_answer(
    database: Database,
) -> None:
    chat = FakeChat()
    chat.plan(Unsure("no answer"), lost=True)
    async with delivering(database, chat) as dispatcher:
        live = live_text("Thinking")
        dispatcher.show_live(live)
        await chat.sees_text("Thinking")
        await until_state(database, _row_of(live), "unsure")
        row = await finalize(database, live, "Done.")
        dispatcher.enqueue([row])
        await until_sent(database, row)
    assert [shown.text for shown in chat.shown] == ["Done."]


async def test_settling_while_the_opening_is_under_way_does_not_double_it(
    database: Database,
) -> None:
    chat = FakeChat()
    chat.gate = asyncio.Event()
    async with delivering(database, chat) as dispatcher:
        live = live_text("Thinking")
        dispatcher.show_live(live)
        async with asyncio.timeout(45):
            while live.row is None:
                await asyncio.sleep(0.005)
        row = await finalize(database, live, "Done.")
        dispatcher.enqueue([row])
        chat.gate.set()
        await until_sent(database, row)
    assert [shown.texts for shown in chat.shown] == [["Thinking", "Done."]]


async def test_a_live_message_that_was_deleted_is_sent_anew(database: Database) -> None:
    chat = FakeChat()
    async with delivering(database, chat) as dispatcher:
        live = live_text("Thinking")
        dispatcher.show_live(live)
        await chat.sees_text("Thinking")
        await until_state(database, _row_of(live), "sent")
        row = await finalize(database, live, "Done.")
        chat.plan(MessageGone("deleted"))
        dispatcher.enqueue([row])
        await until_sent(database, row)
    assert chat.shown[-1].text == "Done."


async def test_an_opening_that_never_left_leaves_nothing_behind(database: Database) -> None:
    chat = FakeChat()
    chat.plan(Unreachable("down"))
    async with delivering(database, chat) as dispatcher:
        live = live_text("Thinking")
        dispatcher.show_live(live)
        async with asyncio.timeout(45):
            while not live.is_over:
                await asyncio.sleep(0.005)
    assert live.row is None
    assert await database.read(outbox.list_open) == []


async def test_a_live_message_of_an_earlier_process_is_looked_for_and_kept(
    database: Database,
) -> None:
    chat = FakeChat()
    live = live_text("Thinking")
    row = await database.write(
        "open",
        lambda c: outbox.open_live(
            c,
            NewOutboxMessage(platform="fake", chat=CHAT, body="Thinking", person_id=PersonId(1)),
            now=0,
        ),
    )
    await chat.send_quietly("Thinking")
    async with delivering(database, chat) as dispatcher:
        await dispatcher.start()
        found = await until_sent(database, row)
        assert found.message_id == "1"
        live.row = found
        final = await finalize(database, live, "Done.")
        dispatcher.enqueue([final])
        await until_sent(database, final)
    assert [shown.text for shown in chat.shown] == ["Done."]


async def test_courtesy_is_shown_unless_messages_wait(database: Database) -> None:
    chat = FakeChat(pace=Pace(chat_interval=0, edit_interval=0, per_second=1))
    async with delivering(database, chat) as dispatcher:
        dispatcher.indicators.type("fake", CHAT)
        await chat.types()
    assert chat.typed == ["1"]


def _row_of(live: LiveMessage) -> OutboxRow:
    assert live.row is not None
    return live.row


async def test_messages_behind_a_reserved_slot_wait_for_it(
    database: Database,
) -> None:
    chat = FakeChat()
    async with delivering(database, chat) as dispatcher:
        slot = dispatcher.reserve(PLACE)
        assert slot
        assert dispatcher.reserve(PLACE) is None, "a line is held once"
        later = await enqueue(database, "later")
        dispatcher.enqueue([later])
        outgoing = NewOutboxMessage(platform="fake", chat=CHAT, body="first")
        first = await database.write(
            "first", lambda c: outbox.enqueue_sending(c, outgoing, anchor=slot.anchor, now=0)
        )
        more = await enqueue(database, "more of the first")
        elsewhere = await enqueue(database, "elsewhere", chat=OTHER)
        dispatcher.enqueue([first, more, elsewhere], slot)
        await until_sent(database, later)
        await until_sent(database, elsewhere)
        here = [shown.text for shown in chat.shown if shown.chat_id == "1"]
        assert here == ["first", "more of the first", "later"]


async def test_a_line_that_was_held_for_nothing_goes_on(database: Database) -> None:
    chat = FakeChat()
    async with delivering(database, chat) as dispatcher:
        slot = dispatcher.reserve(PLACE)
        assert slot
        row = await enqueue(database, "hello")
        dispatcher.enqueue([row])
        slot.end()
        slot.end()
        await until_sent(database, row)
        await until_idle(dispatcher)
        assert dispatcher.reserve(PLACE)


async def test_no_line_is_held_where_a_message_would_have_to_wait(database: Database) -> None:
    chat = FakeChat(pace=Pace(chat_interval=60, edit_interval=0, per_second=0))
    async with delivering(database, chat) as dispatcher:
        assert dispatcher.reserve(Place(platform="gone", chat=CHAT)) is None
        row = await enqueue(database, "hello")
        dispatcher.enqueue([row])
        assert dispatcher.reserve(PLACE) is None, "something is on its way there"
        await until_sent(database, row)
        await until_idle(dispatcher)
        assert dispatcher.reserve(PLACE) is None, "its pace allows no message yet"
        slot = dispatcher.reserve(Place(platform="fake", chat=OTHER))
        assert slot
        slot.end()
        await until_idle(dispatcher)
        dispatcher.close()
        assert dispatcher.reserve(Place(platform="fake", chat=OTHER)) is None


def test_the_words_of_a_platform_stand_apart_from_a_translated_sentence() -> None:
    with use_language("de"):
        sentence, _, reason = general.describe_dead("It is too strange.").partition("\n\n")
    assert (
        sentence == "Ich konnte hier eine Antwort nicht zustellen. /retry schickt sie noch einmal."
    )
    assert reason == "Die Chat-App sagt dazu: „It is too strange.“"
