"""Delivery: what is owed is paid in order, once, through every kind of mishap."""

import asyncio
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
from agent_core.chats import Chat, Place
from agent_core.ids import PersonId
from agent_core.localization import use_language
from agent_core.state.engine.database import Database
from agent_core.state.queues import dead_letters, outbox
from agent_core.state.queues.outbox import NewOutboxMessage, OutboxRow
from gateway.chats import name_chat
from gateway.outbound.live_message import LiveMessage
from gateway.outbound.timings import DeliveryTimings
from gateway.texts import general
from tests.fakes.chat import FakeChat
from tests.gateway.outbound.rig import CHAT, OTHER, Delivery, SeeingChat, delivering
from tests.patience import until

PLACE = Place(chat=Chat(platform="fake", address=CHAT))


async def test_messages_of_a_chat_arrive_in_the_order_they_were_queued(delivery: Delivery) -> None:
    rows = [await delivery.owe(f"part {number}") for number in range(5)]
    delivery.dispatcher.enqueue(rows)
    assert await delivery.chat.sees(5) == [f"part {number}" for number in range(5)]
    await delivery.until_sent(rows[-1])


UNSURE = Unsure("no answer")


@pytest.mark.parametrize(
    ("mishaps", "shown", "looked"),
    [
        pytest.param([(Unreachable("down"), False)], ["hello"], 0, id="not reached"),
        pytest.param([(RateLimited("slow", retry_after=0.01), False)], ["hello"], 0, id="limited"),
        pytest.param([(UNSURE, True)], ["hello"], 1, id="arrived, answer lost"),
        pytest.param([(UNSURE, False)], ["hello"], 1, id="never arrived"),
        pytest.param(
            [(UNSURE, True), *[(Unreachable("still down"), False)] * 3],
            ["hello"],
            4,
            id="arrived, then an outage",
        ),
        pytest.param(
            [(UNSURE, True), *[(Unsure("too many to look through"), False)] * 4],
            ["hello", "(You may have received this before.)\n\nhello"],
            4,
            id="never found",
        ),
        pytest.param(
            [
                *[(Unreachable("down"), False)] * 4,
                (UNSURE, True),
                *[(Unsure("too many to look through"), False)] * 3,
            ],
            ["hello"],
            4,
            id="an outage, then arrived and found at the fourth look",
        ),
    ],
)
async def test_a_message_is_sent_once_unless_nobody_can_tell_whether_it_arrived(
    delivery: Delivery, mishaps: list[tuple[AdapterError, bool]], shown: list[str], looked: int
) -> None:
    delivery.chat.mishaps.extend(mishaps)
    assert (await delivery.send("hello")).message_id == str(len(shown))
    assert delivery.chat.texts == shown
    assert delivery.chat.looked == ["hello"] * looked


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
    async with delivering(database, chat) as delivery:
        for place in (topic, other):
            await delivery.send("said before", place)
        chat.plan(Unsure("no answer"))
        await delivery.send("in doubt", group)
    assert chat.texts == ["said before", "said before", "in doubt"]
    assert chat.known == [[chat.shown[0].id]]


async def test_a_message_is_looked_for_behind_the_newest_before_it(delivery: Delivery) -> None:
    await delivery.chat.send_quietly("somebody else's")
    delivery.chat.plan(Unsure("no answer"), lost=True)
    row = await delivery.send("hello")
    assert (await delivery.state(row)).anchor == "1"
    assert delivery.chat.known == [["1"]]


async def test_a_refused_message_is_set_aside_with_a_notice(delivery: Delivery) -> None:
    delivery.chat.plan(Rejected("It is too strange."))
    row = await delivery.queue("strange")
    notice = await delivery.chat.sees_text("/retry")
    assert notice.text == general.describe_dead()
    assert (await delivery.until_state(row, "dead")).reason == "It is too strange."


async def test_an_unreachable_chat_gets_no_notice(delivery: Delivery) -> None:
    delivery.chat.plan(ChatGone("blocked"))
    row = await delivery.queue("hello")
    await delivery.until_state(row, "dead")
    await delivery.send("elsewhere", OTHER)
    assert delivery.chat.texts == ["elsewhere"]


async def test_a_rate_limit_of_one_chat_delays_no_other(delivery: Delivery) -> None:
    delivery.chat.plan(RateLimited("slow", retry_after=600))
    deferred = await delivery.queue("held")
    await delivery.until_state(deferred, "owed")
    await delivery.until_idle()
    delivery.dispatcher.wake(
        Chat(platform="fake", address=CHAT)
    )  # a person who writes does not shorten it
    await delivery.send("free", OTHER)
    await delivery.until_idle()
    assert (await delivery.state(deferred)).state == "owed"
    assert delivery.chat.texts == ["free"]


async def test_a_reconnected_person_gets_waiting_messages_at_once(database: Database) -> None:
    chat = FakeChat()
    chat.plan(Unreachable("nobody is there"))
    slow = DeliveryTimings(first_pause=600, longest_pause=600)
    async with delivering(database, chat, slow) as delivery:
        deferred = await delivery.queue("held")
        await delivery.until_state(deferred, "owed")
        await delivery.until_idle()
        delivery.dispatcher.wake(Chat(platform="fake", address=CHAT))
        await delivery.until_sent(deferred)


async def test_a_message_in_doubt_is_not_looked_for_before_it_can_have_arrived(
    database: Database,
) -> None:
    chat = FakeChat()
    chat.plan(Unsure("no answer"))
    slow = DeliveryTimings(first_pause=0.01, finish=600)
    async with delivering(database, chat, slow) as delivery:
        doubtful = await delivery.queue("doubtful")
        await delivery.until_state(doubtful, "unsure")
        await delivery.until_idle()
        delivery.dispatcher.wake(Chat(platform="fake", address=CHAT))
        await delivery.send("free", OTHER)
        await delivery.until_idle()
        assert (await delivery.state(doubtful)).state == "unsure"


async def test_messages_of_an_earlier_process_are_reconciled_first(delivery: Delivery) -> None:
    row = await delivery.owe("hello")
    await delivery.database.write("sending", lambda c: outbox.mark_sending(c, outbox_id=row.id))
    await delivery.dispatcher.start()
    await delivery.until_sent(row)
    assert delivery.chat.looked == ["hello"]
    assert delivery.chat.texts == ["hello"]


async def test_a_platform_that_sees_all_chats_is_told_of_them_before_it_looks(
    database: Database,
) -> None:
    chat = SeeingChat()
    async with delivering(database, chat) as delivery:
        here, there = await delivery.send("here"), await delivery.send("there", OTHER)
        chat.plan(UNSURE, lost=True)
        await delivery.send("in doubt")
    assert [sorted(one) for one in chat.told] == [sorted(map(_id_of, (here, there)))]


def _id_of(row: OutboxRow) -> str:
    assert row.message_id
    return row.message_id


async def test_a_damaged_message_is_never_sent(delivery: Delivery) -> None:
    row = await delivery.owe("hello")
    await delivery.database.write(
        "damage",
        lambda c: c.execute("UPDATE outbox SET body = 'evil' WHERE id = :id", {"id": row.id}),
    )
    await delivery.dispatcher.start()
    await delivery.until_state(row, "dead")
    await delivery.chat.sees_text("damaged")
    person = {"person_id": PersonId(1), "platform": "fake", "chat": CHAT}
    assert not await delivery.database.read(lambda c: dead_letters.has_dead(c, **person)), (
        "no use to retry"
    )
    assert all("evil" not in shown.text for shown in delivery.chat.shown)


def live_text(text: str) -> LiveMessage:
    live = LiveMessage(
        NewOutboxMessage(chat=Chat(platform="fake", address=CHAT), body="", person_id=PersonId(1))
    )
    live.text = text
    return live


async def finalize(delivery: Delivery, live: LiveMessage, body: str) -> OutboxRow:
    live.is_over = True
    row_id = _row_of(live).id
    return await delivery.database.write(
        "settle", lambda c: outbox.finalize_live(c, outbox_id=row_id, body=body)
    )


async def test_a_live_message_grows_and_ends_as_the_answer(delivery: Delivery) -> None:
    live = live_text("The answer")
    delivery.dispatcher.show_live(live)
    await delivery.chat.sees_text("The answer")
    live.text = "The answer is"
    delivery.dispatcher.show_live(live)
    await delivery.chat.sees_text("The answer is")
    await delivery.finish(await finalize(delivery, live, "The answer is 42."))
    assert [shown.texts for shown in delivery.chat.shown] == [
        ["The answer", "The answer is", "The answer is 42."]
    ]


async def test_a_live_message_without_a_response_becomes_the_answer(delivery: Delivery) -> None:
    delivery.chat.plan(Unsure("no answer"), lost=True)
    live = live_text("Thinking")
    delivery.dispatcher.show_live(live)
    await delivery.chat.sees_text("Thinking")
    await delivery.until_state(_row_of(live), "unsure")
    await delivery.finish(await finalize(delivery, live, "Done."))
    assert delivery.chat.texts == ["Done."]


async def test_settling_while_the_opening_is_under_way_does_not_double_it(
    delivery: Delivery,
) -> None:
    delivery.chat.gate = asyncio.Event()
    live = live_text("Thinking")
    delivery.dispatcher.show_live(live)
    await until(lambda: live.row)
    row = await finalize(delivery, live, "Done.")
    delivery.dispatcher.enqueue([row])
    delivery.chat.gate.set()
    await delivery.until_sent(row)
    assert [shown.texts for shown in delivery.chat.shown] == [["Thinking", "Done."]]


async def test_a_live_message_that_was_deleted_is_sent_anew(delivery: Delivery) -> None:
    live = live_text("Thinking")
    delivery.dispatcher.show_live(live)
    await delivery.chat.sees_text("Thinking")
    await delivery.until_state(_row_of(live), "sent")
    row = await finalize(delivery, live, "Done.")
    delivery.chat.plan(MessageGone("deleted"))
    await delivery.finish(row)
    assert delivery.chat.shown[-1].text == "Done."


async def test_an_opening_that_never_left_leaves_nothing_behind(delivery: Delivery) -> None:
    delivery.chat.plan(Unreachable("down"))
    live = live_text("Thinking")
    delivery.dispatcher.show_live(live)
    await until(lambda: live.is_over)
    assert live.row is None
    assert await delivery.database.read(outbox.list_open) == []


async def test_a_live_message_of_an_earlier_process_is_looked_for_and_kept(
    delivery: Delivery,
) -> None:
    live = live_text("Thinking")
    row = await delivery.database.write(
        "open",
        lambda c: outbox.open_live(
            c,
            NewOutboxMessage(
                chat=Chat(platform="fake", address=CHAT), body="Thinking", person_id=PersonId(1)
            ),
            now=0,
        ),
    )
    await delivery.chat.send_quietly("Thinking")
    await delivery.dispatcher.start()
    found = await delivery.until_sent(row)
    assert found.message_id == "1"
    live.row = found
    await delivery.finish(await finalize(delivery, live, "Done."))
    assert delivery.chat.texts == ["Done."]


async def test_courtesy_is_shown_unless_messages_wait(database: Database) -> None:
    chat = FakeChat(pace=Pace(chat_interval=0, edit_interval=0, per_second=1))
    async with delivering(database, chat) as delivery:
        delivery.dispatcher.indicators.type(Chat(platform="fake", address=CHAT))
        await chat.types()
    assert chat.typed == ["1"]


def _row_of(live: LiveMessage) -> OutboxRow:
    assert live.row is not None
    return live.row


async def test_messages_behind_a_reserved_slot_wait_for_it(delivery: Delivery) -> None:
    slot = delivery.dispatcher.reserve(PLACE)
    assert slot
    assert delivery.dispatcher.reserve(PLACE) is None, "a line is held once"
    later = await delivery.queue("later")
    outgoing = NewOutboxMessage(chat=Chat(platform="fake", address=CHAT), body="first")
    first = await delivery.database.write(
        "first", lambda c: outbox.enqueue_sending(c, outgoing, anchor=slot.anchor, now=0)
    )
    more = await delivery.owe("more of the first")
    elsewhere = await delivery.owe("elsewhere", chat=OTHER)
    delivery.dispatcher.enqueue([first, more, elsewhere], slot)
    await delivery.until_sent(later)
    await delivery.until_sent(elsewhere)
    here = [shown.text for shown in delivery.chat.shown if shown.chat_id == "1"]
    assert here == ["first", "more of the first", "later"]


async def test_a_line_that_was_held_for_nothing_goes_on(delivery: Delivery) -> None:
    slot = delivery.dispatcher.reserve(PLACE)
    assert slot
    row = await delivery.queue("hello")
    slot.end()
    slot.end()
    await delivery.until_sent(row)
    await delivery.until_idle()
    assert delivery.dispatcher.reserve(PLACE)


async def test_no_line_is_held_where_a_message_would_have_to_wait(database: Database) -> None:
    chat = FakeChat(pace=Pace(chat_interval=60, edit_interval=0, per_second=0))
    async with delivering(database, chat) as delivery:
        assert delivery.dispatcher.reserve(Place(chat=Chat(platform="gone", address=CHAT))) is None
        row = await delivery.queue("hello")
        assert delivery.dispatcher.reserve(PLACE) is None, "something is on its way there"
        await delivery.until_sent(row)
        await delivery.until_idle()
        assert delivery.dispatcher.reserve(PLACE) is None, "its pace allows no message yet"
        slot = delivery.dispatcher.reserve(Place(chat=Chat(platform="fake", address=OTHER)))
        assert slot
        slot.end()
        await delivery.until_idle()
        delivery.dispatcher.close()
        assert delivery.dispatcher.reserve(Place(chat=Chat(platform="fake", address=OTHER))) is None


def test_the_words_of_a_platform_stand_apart_from_a_translated_sentence() -> None:
    with use_language("de"):
        sentence, _, reason = general.describe_dead("It is too strange.").partition("\n\n")
    assert (
        sentence == "Ich konnte hier eine Antwort nicht zustellen. /retry schickt sie noch einmal."
    )
    assert reason == "Die Chat-App sagt dazu: „It is too strange.“"
