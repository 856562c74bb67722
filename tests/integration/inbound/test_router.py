"""Inbound events: stored, read once and in order, and never fatal."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from adapters.errors import Unreachable
from adapters.ids import Address, EventId
from adapters.messages import RawEvent
from agent_core.state.engine.database import Connection
from gateway.texts import general
from tests.fakes.chat import FakeChat
from tests.fakes.model import FakeModel, say
from tests.integration.harness import Harness, running

SENTENCES = [f"sentence {number}" for number in range(40)]


async def states(harness: Harness) -> list[tuple[str, str]]:
    def look(connection: Connection) -> list[tuple[str, str]]:
        return connection.execute("SELECT state, reason FROM inbox ORDER BY id").fetchall()

    return await harness.read(look)


async def take(harness: Harness, *payloads: str) -> None:
    assert harness.chat.inlet
    events = [
        RawEvent(event_id=EventId(f"raw {number}"), payload=payload)
        for number, payload in enumerate(payloads)
    ]
    await harness.chat.inlet.take(events)


async def refuse(harness: Harness, event: str) -> Callable[[], Awaitable[None]]:
    """Make the store fail for an event, like a full disk; returns a function that ends it."""
    trigger = f"CREATE TRIGGER no BEFORE {event} BEGIN SELECT RAISE(ABORT, 'no'); END"
    database = harness.gateway.database
    await database.write("test", lambda c: c.execute(trigger))

    async def relent() -> None:
        await database.write("test", lambda c: c.execute("DROP TRIGGER no"))

    return relent


def find_pages_of_accounts(connection: Connection) -> tuple[int, list[int]]:
    """Return the size of a page, and the roots of the table of accounts and its indexes."""
    rows = connection.execute("SELECT rootpage FROM sqlite_schema WHERE tbl_name = 'accounts'")
    pages = [page for (page,) in rows]
    (size,) = connection.execute("PRAGMA page_size").fetchone()
    return size, pages


@contextmanager
def damage(path: Path, pages: tuple[int, list[int]]) -> Iterator[None]:
    """Overwrite pages of a file meanwhile, like a disk that fails to read them.

    The file keeps its time: nobody has written it.
    """
    size, numbers = pages
    whole, known = path.read_bytes(), path.stat()
    with path.open("r+b") as file:
        for number in numbers:
            file.seek((number - 1) * size)
            file.write(b"\xff" * size)
        file.flush()
        os.utime(path, ns=(known.st_atime_ns, known.st_mtime_ns))
        try:
            yield
        finally:
            for number in numbers:
                file.seek((number - 1) * size)
                file.write(whole[(number - 1) * size : number * size])
            file.flush()
            os.utime(path, ns=(known.st_atime_ns, known.st_mtime_ns))


async def test_an_event_that_fails_its_reader_is_parked(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel(say("Yes?"))) as harness:
        await take(harness, "{}", "not even JSON")
        await harness.chat.says("hello")
        assert await harness.chat.sees(1) == ["Yes?"]
        await harness.at_rest()
        assert [state for state, _ in await states(harness)] == ["dead", "dead", "done"]


async def test_an_event_that_fails_its_reader_does_not_break_the_next_start(
    tmp_path: Path,
) -> None:
    async with running(tmp_path, FakeModel()) as harness:
        await harness.gateway.database.write(
            "test",
            lambda c: c.execute(
                "INSERT INTO inbox (platform, event_id, payload, state, received_at)"
                " VALUES ('fake', 'x', '{}', 'received', 0)"
            ),
        )
    async with running(tmp_path, FakeModel(say("Yes?"))) as harness:
        await harness.chat.says("hello", id=2)
        assert await harness.chat.sees(1) == ["Yes?"]
        await harness.at_rest()
        assert [state for state, _ in await states(harness)] == ["dead", "done"]


async def test_an_event_that_cannot_be_stored_is_not_acknowledged(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel(say("Yes?"))) as harness:
        relent = await refuse(harness, "INSERT ON inbox")
        with pytest.raises(Unreachable):
            await harness.chat.says("hello", id=1)
        await relent()
        await harness.chat.says("hello", id=1)
        assert await harness.chat.sees(1) == ["Yes?"]
        await harness.at_rest()
        assert len(await states(harness)) == 1


async def test_a_closing_gateway_accepts_no_events(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel()) as harness:
        harness.gateway.router.close()
        with pytest.raises(Unreachable, match="shutting down"):
            await harness.chat.says("hello")
        assert await states(harness) == []


async def test_messages_of_one_chat_keep_their_order(tmp_path: Path) -> None:
    go = asyncio.Event()
    async with running(tmp_path, FakeModel([go.wait, *say("One.")], say("Two."))) as harness:
        await harness.chat.says("first")
        await harness.until(lambda: harness.model.streaming == 1)
        for sentence in SENTENCES:
            await harness.chat.says(sentence)
        await harness.until(harness.gateway.router.is_idle)
        go.set()
        await harness.at_rest()
        said = [m.text for m in harness.model.requests[-1].messages if m.role == "user"]
        assert said == ["first", *SENTENCES]


async def test_a_command_whose_reply_cannot_be_stored_runs_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    go = asyncio.Event()
    model = FakeModel([go.wait, *say("One.")], say("Two."))
    async with running(tmp_path, model) as harness:
        await harness.chat.says("first")
        await harness.until(lambda: model.streaming == 1)
        relent = await refuse(harness, "INSERT ON outbox")
        await harness.chat.says("/queue second")
        await harness.until(lambda: "an event of fake waits" in caplog.text)
        await relent()
        await harness.chat.sees_text("I'll start on that when")
        go.set()
        await harness.chat.sees_text("Two.")
        await harness.at_rest()
        assert len(harness.chat.shown) == 3
        assert [state for state, _ in await states(harness)] == ["done", "done"]


async def test_an_internal_error_is_reported_to_known_people(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel(say("Yes?"))) as harness:
        await harness.chat.says("hello")
        await harness.chat.sees(1)
        await harness.chat.says(None)  # type: ignore[arg-type]
        await harness.chat.sees_text(general.INTERNAL_ERROR())
        await harness.at_rest()
        (done, _), (dead, reason) = await states(harness)
        assert (done, dead) == ("done", "dead")
        assert "AttributeError" in reason


async def test_an_internal_error_is_not_reported_to_strangers(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel(), TALARIA_ACCESS__ALLOW="fake:1") as harness:
        await harness.chat.says(None, user="666")  # type: ignore[arg-type]
        await harness.at_rest()
        assert harness.chat.shown == []
        assert [state for state, _ in await states(harness)] == ["dead"]


async def test_a_message_whose_sender_cannot_be_read_is_answered_after_a_restart(
    tmp_path: Path,
) -> None:
    async with running(tmp_path, FakeModel()) as harness:
        damaged = await harness.read(find_pages_of_accounts)
        with damage(tmp_path / "state.db", damaged):
            await harness.chat.says("hello")
            await harness.until(harness.gateway.router.is_idle)
        assert harness.chat.shown == []
    async with running(tmp_path, FakeModel(say("Yes?"))) as harness:
        assert await harness.chat.sees(1) == ["Yes?"]


@pytest.mark.parametrize("text", [" ", "\n\t", "\u200b", " \u2060\ufeff"])
async def test_a_message_that_no_screen_shows_is_empty(tmp_path: Path, text: str) -> None:
    async with running(tmp_path, FakeModel()) as harness:
        await harness.chat.says(text)
        await harness.chat.sees_text(general.EMPTY())
        await harness.at_rest()
        assert harness.model.requests == []


async def test_an_edit_of_an_answered_message_is_silent(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel(say("Yes?"))) as harness:
        await harness.chat.says("hello", id=1)
        await harness.chat.sees(1)
        await harness.at_rest()
        await harness.chat.says("", id=1, edit=True, event="the edit")
        await harness.at_rest()
        assert len(harness.chat.shown) == 1
        assert [state for state, _ in await states(harness)] == ["done", "done"]


async def test_events_of_a_disabled_platform_wait(tmp_path: Path) -> None:
    chat = FakeChat()
    async with running(tmp_path, FakeModel(), chat=chat) as harness:
        await refuse(harness, "INSERT ON turns")
        await chat.says("hello")
        await harness.until(lambda: len(harness.gateway.lanes) == 1)
    async with running(tmp_path, FakeModel(), platform="elsewhere") as harness:
        await harness.at_rest()
        assert [state for state, _ in await states(harness)] == ["received"]
        await harness.gateway.database.write("test", lambda c: c.execute("DROP TRIGGER no"))
    async with running(tmp_path, FakeModel(say("Yes?"))) as harness:
        assert await harness.chat.sees(1) == ["Yes?"]


class PreparedModel(FakeModel):
    prepared = 0

    def prepare(self) -> None:
        self.prepared += 1


async def test_the_model_is_prepared_when_a_chat_is_opened_and_with_a_claim(
    tmp_path: Path,
) -> None:
    model = PreparedModel()
    async with running(tmp_path, model) as harness:
        assert harness.chat.inlet
        harness.chat.inlet.notice(Address(chat_id="1", is_direct=True))
        assert model.prepared == 1
        await harness.chat.says("/claim ABCD-EFGH")
        await harness.at_rest()
        assert model.prepared == 2
