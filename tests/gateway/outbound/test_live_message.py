"""Live messages: opened once, then edited, and never in the way of the answer."""

import asyncio
from dataclasses import dataclass, field

import pytest

from adapters.contract import Pace
from adapters.errors import AdapterError, RateLimited, Rejected, Unreachable, Unsure
from adapters.messages import OutboundMessage
from agent_core.chats import Chat, Place
from agent_core.ids import TurnId
from agent_core.state.conversations import turns
from agent_core.state.conversations.questions import Choice
from agent_core.state.engine.database import Database
from agent_core.state.queues import outbox
from agent_core.state.queues.outbox import OutboxKind, OutboxRow
from gateway.outbound.channel import Channel
from gateway.outbound.live_message import LiveMessage, LiveMessageEditor
from tests.fakes.chat import FakeChat
from tests.gateway.outbound.conftest import begin_turn, finalize, live_of, queued_message_of
from tests.gateway.outbound.rig import CHAT
from tests.patience import PATIENCE

FINISH = 0.2
BUTTONS = (Choice(key="q1:o1:00000000", label="Yes"),)


class Screen:
    """A chat, the editor of its live messages, and one turn."""

    def __init__(self, database: Database, turn_id: TurnId) -> None:
        self.database = database
        self.turn_id = turn_id
        self.chat = FakeChat()
        self.editor = LiveMessageEditor(database, lambda: 7, finish=FINISH)

    async def show(self, live: LiveMessage, text: str = "") -> float | None:
        live.text = text or live.text
        return await self.editor.show_live(Channel.to(self.chat), live)

    async def open(self, kind: OutboxKind = "message") -> LiveMessage:
        live = live_of(self.turn_id, "One", kind=kind)
        await self.show(live)
        return live

    @property
    def texts(self) -> list[list[str]]:
        return [shown.texts for shown in self.chat.shown]

    async def stored(self) -> OutboxRow | None:
        return await self.database.read(lambda c: outbox.find_live(c, turn_id=self.turn_id))


@pytest.fixture
async def screen(database: Database) -> Screen:
    return Screen(database, await begin_turn(database))


async def test_a_live_message_is_sent_once_then_edited(screen: Screen) -> None:
    live = await screen.open()
    row = await screen.stored()
    assert row
    assert live.row
    assert (row.state, row.message_id, row.anchor) == ("sent", "1", None)
    assert (live.row.state, live.row.message_id, live.is_draft) == ("sent", "1", False)
    for text in ("One", "One two", "One two"):
        assert await screen.show(live, text) is None
    assert screen.texts == [["One", "One two"]]
    live.buttons = BUTTONS
    await screen.show(live)
    assert screen.chat.shown[0].labels == ["Yes"]
    live.is_over = True
    await screen.show(live, "Too late")
    assert screen.texts == [["One", "One two"]]


@pytest.mark.parametrize("kind", ["message", "status"])
async def test_a_turn_has_one_live_message_of_each_kind(screen: Screen, kind: OutboxKind) -> None:
    await screen.open()
    second = await screen.open(kind)
    assert second.is_over == (kind == "message")
    assert screen.texts == [["One"]] * (1 if kind == "message" else 2)


@pytest.mark.parametrize(
    "chat",
    [Chat(platform="fake", address="[]"), Chat(platform="other", address=CHAT), None],
)
async def test_a_turn_that_ended_or_moved_shows_nothing_here(
    screen: Screen, chat: Chat | None
) -> None:
    if chat:
        place = Place(chat=chat)
        await screen.database.write(
            "move", lambda c: turns.move(c, turn_id=screen.turn_id, place=place)
        )
    else:
        await finalize(screen.database, screen.turn_id, "Done.")
    live = await screen.open()
    assert (live.is_over, live.row, screen.texts) == (True, None, [])


@pytest.mark.parametrize(
    ("error", "wait", "state"),
    [
        (Unsure("no answer"), FINISH, "unsure"),
        (Unreachable("down"), None, None),
        (Rejected("no"), None, None),
        (RateLimited("slow", retry_after=3.0), 3.0, None),
    ],
)
async def test_an_opening_that_fails_ends_the_live_message(
    screen: Screen, error: AdapterError, wait: float | None, state: str | None
) -> None:
    screen.chat.plan(error)
    live = live_of(screen.turn_id, "One")
    assert await screen.show(live) == wait
    row = await screen.stored()
    assert (row.state if row else None) == state
    assert (live.row is not None, live.is_over) == (state is not None, True)


async def test_an_answer_that_is_final_when_its_opening_fails_is_queued(screen: Screen) -> None:
    screen.chat.gate = asyncio.Event()
    screen.chat.plan(Unreachable("down"))
    live = live_of(screen.turn_id, "One")
    opening = asyncio.create_task(screen.show(live))
    async with asyncio.timeout(PATIENCE):
        while not live.row:
            await asyncio.sleep(0.002)
    row = await finalize(screen.database, screen.turn_id, "Done.")
    screen.chat.gate.set()
    await opening
    found = await screen.database.read(lambda c: outbox.find(c, outbox_id=row.id))
    assert found
    assert (row.state, found.state, found.body) == ("unsure", "owed", "Done.")


@pytest.mark.parametrize(
    ("error", "wait", "is_over"),
    [
        (Unsure("no answer"), FINISH, True),
        (Unreachable("down"), FINISH, True),
        (Rejected("no"), None, True),
        (RateLimited("slow", retry_after=3.0), 3.0, False),
    ],
)
async def test_an_edit_that_fails_keeps_the_message(
    screen: Screen, error: AdapterError, wait: float | None, is_over: bool
) -> None:
    live = await screen.open()
    screen.chat.plan(error)
    assert (await screen.show(live, "Two"), live.is_over) == (wait, is_over)
    await screen.show(live)
    assert screen.texts == [["One"] if is_over else ["One", "Two"]]


async def test_an_opening_waits_for_the_rate_of_its_chat(screen: Screen) -> None:
    screen.chat.pace = Pace(chat_interval=0.1, edit_interval=0, per_second=0)
    channel = Channel.to(screen.chat)
    loop = asyncio.get_running_loop()
    began = loop.time()
    await channel.rate_limiter.wait(CHAT)
    await screen.editor.show_live(channel, live_of(screen.turn_id, "One"))
    assert loop.time() - began >= 0.09


@dataclass
class DraftingChat(FakeChat):
    """A platform with drafts."""

    has_drafts: bool = True
    drafts: list[OutboundMessage] = field(default_factory=list)

    async def draft(self, message: OutboundMessage) -> bool:
        self.drafts.append(message)
        return self.has_drafts


@pytest.mark.parametrize(
    ("has_drafts", "kind", "buttons", "is_draft"),
    [
        (True, "message", (), True),
        (False, "message", (), False),
        (True, "status", (), False),
        (True, "message", BUTTONS, False),
    ],
)
async def test_a_growing_answer_without_buttons_is_a_draft(
    screen: Screen, has_drafts: bool, kind: OutboxKind, buttons: tuple[Choice, ...], is_draft: bool
) -> None:
    screen.chat = chat = DraftingChat(has_drafts=has_drafts)
    live = live_of(screen.turn_id, "One", kind=kind)
    live.buttons = buttons
    await screen.show(live)
    assert (live.is_draft, live.row is None) == (is_draft, is_draft)
    assert screen.texts == ([] if is_draft else [["One"]])
    drafts = [(one.address.chat_id, one.text, one.key) for one in chat.drafts]
    is_tried = kind == "message" and not buttons
    assert drafts == ([("1", "One", f"turn:{screen.turn_id}")] if is_tried else [])


async def test_only_an_edit_of_an_earlier_process_is_waited_for(screen: Screen) -> None:
    live = await screen.open()
    assert live.row
    with pytest.raises(StopIteration):
        screen.editor.let_earlier_finish(live.row).send(None)
    loop = asyncio.get_running_loop()
    began = loop.time()
    await screen.editor.start()
    await screen.editor.let_earlier_finish(live.row)
    assert loop.time() - began >= FINISH - 0.02


async def test_what_an_earlier_process_was_sending_is_not_looked_for_at_once(
    screen: Screen,
) -> None:
    outgoing = queued_message_of(screen.turn_id, "Sent late")
    row = await screen.database.write("send", lambda c: outbox.enqueue_sending(c, outgoing, now=0))
    await screen.editor.start()
    loop = asyncio.get_running_loop()
    began = loop.time()
    await screen.editor.let_earlier_finish(row)
    assert loop.time() - began >= FINISH - 0.02
