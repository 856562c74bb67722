"""Slow attachments delay later messages of their chat, and nothing else."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from adapters.messages import Attachment
from agent_core.state.queues import inbox
from gateway.media.reader import Reader
from gateway.texts import general
from tests.databases import open_database
from tests.fakes.chat import FakeChat
from tests.fakes.model import FakeModel, Gate, ask, call, say
from tests.integration.accounts import count
from tests.integration.harness import Harness, running
from tests.integration.model_requests import words
from tests.patience import PATIENCE

NOTE = [{"kind": "document", "file_id": "note", "name": "note.txt"}]
LOST = [{"kind": "document", "file_id": "lost", "name": "lost.txt"}]


@dataclass
class SlowChat(FakeChat):
    """Returns attachments once told to."""

    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    fetching: int = 0

    async def fetch(self, attachment: Attachment, *, most_bytes: int) -> bytes:
        self.fetching += 1
        try:
            await self.arrived.wait()
            return await super().fetch(attachment, most_bytes=most_bytes)
        finally:
            self.fetching -= 1


def slow_chat() -> SlowChat:
    return SlowChat(attached={"note": b"Buy green tea."})


async def fetching(harness: Harness) -> None:
    chat = harness.chat
    assert isinstance(chat, SlowChat)
    await harness.until(lambda: chat.fetching == 1)


async def until_waiting(harness: Harness, number: int) -> None:
    """Return once `number` messages wait for an attachment."""
    rooms = harness.gateway.attachments._workers._queues
    await harness.until(lambda: sum(len(queue) for queue in rooms.values()) == number)


async def test_commands_run_while_an_attachment_loads(tmp_path: Path) -> None:
    chat = slow_chat()
    model = FakeModel(say("Noted."))
    async with running(tmp_path, model, chat=chat) as harness:
        await chat.says("read this", attachments=NOTE)
        await fetching(harness)
        await chat.says("/help")
        await chat.sees_text("Just write to me")
        assert model.requests == []
        chat.arrived.set()
        await chat.sees_text("Noted.")
        await harness.at_rest()
        assert "Buy green tea." in str(model.requests[0].messages)


async def test_later_messages_join_the_attachments_turn(tmp_path: Path) -> None:
    chat = slow_chat()
    model = FakeModel(say("Noted."))
    async with running(tmp_path, model, chat=chat) as harness:
        await chat.says("one", attachments=NOTE)
        await fetching(harness)
        for text in ("two", "three"):
            await chat.says(text)
        await until_waiting(harness, 3)
        chat.arrived.set()
        await chat.sees_text("Noted.")
        await harness.at_rest()
        assert [said for request in range(len(model.requests)) for said in words(model, request)][
            -3:
        ] == ["one", "two", "three"]
        assert await count(harness, "inbox", "state <> 'done'") == 0


async def test_other_chats_are_not_delayed(tmp_path: Path) -> None:
    chat = slow_chat()
    model = FakeModel(say("At once."), say("Noted."))
    async with running(tmp_path, model, chat=chat) as harness:
        await chat.says("one", attachments=NOTE)
        await fetching(harness)
        await chat.says("hello", user="2", chat="2", name="Ben")
        await chat.sees_text("At once.")
        chat.arrived.set()
        await chat.sees_text("Noted.")


async def test_an_attachment_delays_nobody_else_in_the_room(tmp_path: Path) -> None:
    chat = slow_chat()
    model = FakeModel(say("At once."), say("Noted."))
    async with running(tmp_path, model, chat=chat) as harness:
        await chat.says("one", attachments=NOTE, chat="room", direct=False)
        await fetching(harness)
        await chat.says("hello", user="2", chat="room", direct=False, name="Ben")
        await chat.sees_text("At once.")
        chat.arrived.set()
        await chat.sees_text("Noted.")


async def test_stop_ends_a_turn_before_it_begins(tmp_path: Path) -> None:
    chat = slow_chat()
    model = FakeModel()
    async with running(tmp_path, model, chat=chat) as harness:
        await chat.says("one", attachments=NOTE)
        await fetching(harness)
        await chat.says("two")
        await until_waiting(harness, 2)
        await chat.says("/stop")
        await chat.sees_text("(Stopped.)")
        await harness.at_rest()
        assert chat.fetching == 0
        assert await count(harness, "inbox", "state <> 'done'") == 0
        await chat.says("/stop")
        await chat.sees_text(general.STOP_NOTHING())


async def test_stop_ends_the_running_turn_first(tmp_path: Path) -> None:
    chat = slow_chat()
    go = asyncio.Event()
    model = FakeModel([go.wait, *say("Never said.")], say("Noted."))
    async with running(tmp_path, model, chat=chat) as harness:
        await chat.says("think")
        await harness.until(lambda: model.streaming == 1)
        await chat.says("one", attachments=NOTE)
        await fetching(harness)
        await chat.says("/stop")
        await chat.sees_text("(Stopped.)")
        chat.arrived.set()
        await chat.sees_text("Noted.")


async def test_a_queued_message_stays_behind_earlier_ones(tmp_path: Path) -> None:
    chat = slow_chat()
    model = FakeModel(say("Noted."), say("And that."))
    async with running(tmp_path, model, chat=chat) as harness:
        await chat.says("one", attachments=NOTE)
        await fetching(harness)
        await chat.says("/queue two")
        await until_waiting(harness, 2)
        chat.arrived.set()
        await chat.sees_text("And that.")
        assert words(model, 0) == ["one"]
        assert words(model, 1) == ["one", "two"]


async def test_an_edited_caption_is_read_as_edited(tmp_path: Path) -> None:
    chat = slow_chat()
    model = FakeModel(say("Noted."))
    async with running(tmp_path, model, chat=chat) as harness:
        await chat.says("reed this", attachments=NOTE, id="7")
        await fetching(harness)
        await chat.says("read this", edit=True, id="7", event="edit")
        await harness.until(lambda: len(harness.gateway.router._workers) == 0)
        chat.arrived.set()
        await chat.sees_text("Noted.")
        await harness.at_rest()
        assert words(model) == ["read this"]
        assert await count(harness, "inbox", "state <> 'done'") == 0


async def test_a_missing_attachment_is_reported_and_blocks_nothing(tmp_path: Path) -> None:
    chat = slow_chat()
    model = FakeModel(say("Hello."))
    async with running(tmp_path, model, chat=chat) as harness:
        await chat.says("", attachments=LOST)
        await fetching(harness)
        await chat.says("hello")
        await until_waiting(harness, 2)
        chat.arrived.set()
        await chat.sees_text("Hello.")
        await harness.at_rest()
        assert "lost.txt" in chat.shown[0].text
        assert words(model) == ["hello"]
        assert await count(harness, "inbox", "state <> 'done'") == 0


async def test_an_attachment_steers_the_running_turn_once_it_is_read(tmp_path: Path) -> None:
    chat = slow_chat()
    gate = Gate()
    model = FakeModel([gate.hold, *ask(call("recall", '{"query": "tea"}'))], say("Green tea."))
    async with running(tmp_path, model, chat=chat) as harness:
        await chat.says("which tea?")
        await gate.reached.wait()
        await chat.says("as in here", attachments=NOTE)
        await fetching(harness)
        chat.arrived.set()
        await until_waiting(harness, 0)
        gate.open.set()
        await chat.sees_text("Green tea.")
        assert words(model)[-1].endswith("as in here")


async def test_a_shutdown_leaves_attachments_to_the_next_start(
    tmp_path: Path,
) -> None:
    chat = slow_chat()
    drain = {"TALARIA_TURNS__DRAIN_SECONDS": "600"}
    async with asyncio.timeout(PATIENCE):  # it waits for no attachment
        async with running(tmp_path, FakeModel(), chat=chat, **drain) as harness:
            await chat.says("one", attachments=NOTE)
            await fetching(harness)
            await chat.says("two")
            await until_waiting(harness, 2)
    chat.inlet = None
    chat.arrived.set()
    model = FakeModel(say("Noted."))
    async with running(tmp_path, model, chat=chat) as harness:
        await chat.sees_text("Noted.")
        await harness.at_rest()
        assert words(model) == ["one", "two"]
        assert len(chat.shown) == 1


async def test_an_attachment_waits_for_a_failing_store(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    chat = slow_chat()
    chat.arrived.set()
    model = FakeModel(say("Never said."))
    async with running(tmp_path, model, chat=chat) as harness:
        trigger = (
            "CREATE TRIGGER no BEFORE UPDATE ON inbox WHEN NEW.reason = 'attachments'"
            " BEGIN SELECT RAISE(ABORT, 'no'); END"
        )
        write = harness.gateway.database.write
        await write("test", lambda c: c.execute(trigger))
        await chat.says("", attachments=LOST)
        await harness.until(lambda: "a message with attachments waits for the store" in caplog.text)
        assert chat.shown == []
        await write("test", lambda c: c.execute("DROP TRIGGER no"))
        await chat.sees(1)
        await harness.at_rest()
        assert len(chat.shown) == 1
        assert await count(harness, "inbox", "state <> 'done'") == 0


async def test_an_unexpected_error_is_reported_and_blocks_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def break_down(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(Reader, "read", break_down)
    chat = slow_chat()
    async with running(tmp_path, FakeModel(say("Hello.")), chat=chat) as harness:
        await chat.says("one", attachments=NOTE)
        await chat.sees_text(general.INTERNAL_ERROR())
        await chat.says("hello")
        await chat.sees_text("Hello.")
        await harness.at_rest()
        assert await count(harness, "inbox", "state = 'dead'") == 1


async def test_stored_events_with_attachments_keep_their_order_at_a_start(tmp_path: Path) -> None:
    database = await open_database(tmp_path / "state.db")
    events = [
        (
            "a",
            '{"id": "1", "text": "one", "attachments": [{"kind": "document", "file_id": "note"}]}',
        ),
        ("b", '{"id": "2", "text": "two"}'),
    ]
    await database.write("left", lambda c: inbox.store(c, platform="fake", events=events, now=1))
    await database.close()
    chat = slow_chat()
    chat.arrived.set()
    model = FakeModel(say("Noted."), say("Noted."))
    async with running(tmp_path, model, chat=chat) as harness:
        await chat.sees_text("Noted.")
        await harness.at_rest()
        assert words(model) == ["one", "two"]
