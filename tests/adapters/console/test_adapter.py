"""The console's socket: terminals connect, write, misbehave and disconnect."""

import asyncio
import contextlib
import json
import socket
import stat
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from adapters.console.adapter import ConsoleAdapter
from adapters.console.settings import LONGEST_LINE, ConsoleSettings
from adapters.errors import AdapterStopped, Unreachable, Unsure
from adapters.ids import Address, PlatformMessageId
from adapters.messages import Button, InboundMessage, OutboundFile, OutboundMessage
from tests.fakes.inlet import FakeInlet
from tests.patience import PATIENCE

HERE = Address(chat_id="local", is_direct=True)
OWED = OutboundMessage(address=HERE, text="**Hi**", key="k1")
ASKED = replace(
    OWED, buttons=(Button(key="y", label="Yes", style="good"), Button(key="n", label="No"))
)


class Terminal:
    """The client end of the socket, line by line."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self.writer = writer

    def write(self, **said: Any) -> None:
        self.writer.write(json.dumps(said).encode() + b"\n")

    async def read(self) -> dict[str, Any]:
        async with asyncio.timeout(PATIENCE):
            return dict(json.loads(await self._reader.readline()))

    async def count_lines(self) -> int:
        """Return how many whole lines arrive until the server closes."""
        lines = 0
        async with asyncio.timeout(PATIENCE):
            with contextlib.suppress(ConnectionError):
                while (await self._reader.readline()).endswith(b"\n"):
                    lines += 1
        return lines

    async def is_answered(self) -> bool:
        """Return whether the server still reads from this terminal."""
        self.write(type="shout")
        return (await self.read())["type"] == "error"


class Console:
    """A running adapter and its terminals."""

    def __init__(self, settings: ConsoleSettings) -> None:
        self.path = settings.socket
        self.inlet = FakeInlet()
        self.adapter = ConsoleAdapter(settings)
        self.terminals = contextlib.ExitStack()

    async def connect(self) -> Terminal:
        reader, writer = await asyncio.open_unix_connection(self.path, limit=2**24)
        self.terminals.callback(writer.close)
        return Terminal(reader, writer)

    async def open(self) -> Terminal:
        terminal = await self.connect()
        assert await terminal.is_answered()
        return terminal

    async def open_as(self, user: str) -> Terminal:
        """A connection of a person's page; the server of the pages writes the first line."""
        terminal = await self.connect()
        terminal.write(type="open", user=user)
        assert await terminal.is_answered()
        return terminal


@pytest.fixture
def confirm() -> float:
    """Seconds the console waits for a terminal; a test may override it."""
    return 5.0


@pytest.fixture
def longest_backlog() -> int:
    """Bytes the console buffers for a terminal; a test may override it."""
    return 4 * LONGEST_LINE


@pytest.fixture
async def console(tmp_path: Path, confirm: float, longest_backlog: int) -> AsyncIterator[Console]:
    console = Console(
        ConsoleSettings(
            socket=tmp_path / "console.sock", confirm=confirm, longest_backlog=longest_backlog
        )
    )
    run = asyncio.create_task(console.adapter.run(console.inlet))
    async with asyncio.timeout(PATIENCE):
        while console.adapter.health().state != "connected":
            await asyncio.sleep(0)
    with console.terminals:
        yield console
    run.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await run
    assert not console.path.exists()


async def test_only_the_owner_may_open_the_socket(console: Console) -> None:
    assert stat.S_IMODE(console.path.stat().st_mode) == 0o600


async def test_a_message_is_acknowledged_once_it_is_stored(console: Console) -> None:
    terminal = await console.open()
    console.inlet.refusals = 1
    terminal.write(type="message", id="m1", text="Hi")
    assert await terminal.read() == {"type": "error", "text": "The disk is full."}
    assert not console.inlet.taken
    for _ in range(2):
        terminal.write(type="message", id="m1", text="Hi")
        assert await terminal.read() == {"type": "ack", "id": "m1"}
    assert [*console.inlet.taken] == ["m1"]


async def test_a_hello_makes_a_person_reachable(console: Console) -> None:
    terminal = await console.open()
    terminal.write(type="hello")
    assert await terminal.is_answered()
    assert console.inlet.noticed == [HERE]


async def test_a_message_is_sent_once_a_terminal_has_shown_it(console: Console) -> None:
    first, second = await console.open(), await console.open()
    sending = asyncio.create_task(console.adapter.send(OWED))
    line: dict[str, Any] = {"type": "message", "id": "k1", "text": "**Hi**", "key": "k1"}
    line |= {"at": 0, "live": False, "silent": False, "file": None, "buttons": []}
    assert await first.read() == line
    assert await second.read() == line
    assert not sending.done()
    second.write(type="got", key="something else")
    assert await second.is_answered()
    assert not sending.done()
    second.write(type="got", key="k1")
    assert await sending == "k1"


async def test_a_message_of_one_terminal_is_shown_by_the_others(console: Console) -> None:
    first, second = await console.open(), await console.open()
    file = {"key": "a" * 64, "name": "a.png", "type": "image/png"}
    first.write(type="message", id="m1", text="Hi", files=[file])
    assert await first.read() == {"type": "ack", "id": "m1"}
    assert await second.read() == {"type": "said", "id": "m1", "text": "Hi", "files": [file]}
    assert await first.is_answered()


async def test_a_file_arrives_whole(console: Console) -> None:
    terminal = await console.open()
    file = OutboundFile(name="plan.md", media_type="text/markdown", data=b"\0\xff")
    sending = asyncio.create_task(console.adapter.send(replace(OWED, text="", file=file)))
    line = await terminal.read()
    assert line["file"] == {"name": "plan.md", "type": "text/markdown", "data": "AP8="}
    terminal.write(type="got", key=line["key"])
    await sending


async def test_a_final_edit_is_confirmed_and_a_growing_one_is_not(console: Console) -> None:
    terminal = await console.open()
    await console.adapter.edit(replace(OWED, is_live=True), (await _show(console, terminal)))
    growing = await terminal.read()
    assert (growing["type"], growing["id"], growing["live"]) == ("edit", "k1", True)
    editing = asyncio.create_task(console.adapter.edit(OWED, growing["id"]))
    final = await terminal.read()
    assert (final["live"], final["key"] != growing["key"]) == (False, True)
    assert not editing.done()
    terminal.write(type="got", key=final["key"])
    await editing


async def _show(console: Console, terminal: Terminal) -> Any:
    sending = asyncio.create_task(console.adapter.send(OWED))
    terminal.write(type="got", key=(await terminal.read())["key"])
    return await sending


async def test_a_message_is_deleted_once_a_terminal_has_done_so(console: Console) -> None:
    terminal = await console.open()
    first = await _show(console, terminal)
    keys = set()
    for _ in range(2):
        deleting = asyncio.create_task(console.adapter.delete(HERE, first))
        line = await terminal.read()
        assert (line["type"], line["id"]) == ("delete", "k1")
        assert not deleting.done()
        terminal.write(type="got", key=line["key"])
        await deleting
        keys.add(line["key"])
    assert len(keys) == 2


async def test_indicators_reach_every_terminal_and_wait_for_none(console: Console) -> None:
    message_id = PlatformMessageId("m1")
    await console.adapter.react(HERE, message_id, seen=True)
    terminals = [await console.open() for _ in range(2)]
    for seen in (True, False):
        await console.adapter.react(HERE, message_id, seen=seen)
        line = {"type": "seen", "id": "m1", "seen": seen}
        assert [await terminal.read() for terminal in terminals] == [line] * 2


@pytest.mark.parametrize("confirm", [0.05])
async def test_without_a_confirmation_the_delivery_is_unknown(console: Console) -> None:
    await console.open()
    with pytest.raises(Unsure):
        await console.adapter.send(OWED)


@pytest.mark.parametrize("confirm", [0.2])
async def test_nobody_confirms_what_is_for_another(console: Console) -> None:
    owner, member = await console.open(), await console.open_as("7")
    sending = asyncio.create_task(console.adapter.send(OWED))
    told = await owner.read()
    member.write(type="got", key=told["key"])
    assert await member.is_answered()
    with pytest.raises(Unsure):
        await sending


async def test_buttons_are_sent_with_a_message_and_removed_by_an_edit(console: Console) -> None:
    terminal = await console.open()
    terminal.write(type="hello", buttons=True)
    assert await terminal.is_answered()
    sending = asyncio.create_task(console.adapter.send(ASKED))
    line = await terminal.read()
    assert line["buttons"] == [
        {"key": "y", "label": "Yes", "style": "good"},
        {"key": "n", "label": "No", "style": "plain"},
    ]
    assert line["text"] == "**Hi**"
    terminal.write(type="got", key=line["key"])
    editing = asyncio.create_task(console.adapter.edit(OWED, await sending))
    line = await terminal.read()
    assert line["buttons"] == []
    terminal.write(type="got", key=line["key"])
    await editing


async def test_a_terminal_without_buttons_shows_the_choices_as_text(console: Console) -> None:
    terminal = await console.open()
    terminal.write(type="hello")
    assert await terminal.is_answered()
    sending = asyncio.create_task(console.adapter.send(ASKED))
    line = await terminal.read()
    assert (line["text"], line["buttons"]) == ("**Hi**\n\n1. Yes\n2. No", [])
    terminal.write(type="got", key=line["key"])
    await sending


async def test_a_press_is_acknowledged_once_it_is_stored(console: Console) -> None:
    terminal = await console.open()
    console.inlet.refusals = 1
    for answer in ("error", "ack", "ack"):
        terminal.write(type="press", id="p1", message="k1", key="y")
        assert (await terminal.read())["type"] == answer
    assert [*console.inlet.taken] == ["p1"]


async def test_without_a_terminal_nothing_is_sent(console: Console) -> None:
    with pytest.raises(Unreachable):
        await console.adapter.send(OWED)
    with pytest.raises(Unreachable):
        await console.adapter.delete(HERE, PlatformMessageId("k1"))
    await console.adapter.type(HERE)
    assert console.adapter.health().state == "connected"


async def test_typing_reaches_every_terminal(console: Console) -> None:
    terminals = [await console.open() for _ in range(3)]
    await console.adapter.type(HERE)
    assert [await terminal.read() for terminal in terminals] == [{"type": "typing"}] * 3


@pytest.mark.parametrize(
    "line", [b"\n", b"{\n", b"\xff\xfe\n", b'{"type": "message"}\n', b"[" * 5000 + b"\n"]
)
async def test_the_connection_survives_a_bad_line(console: Console, line: bytes) -> None:
    terminal = await console.open()
    terminal.writer.write(line)
    assert (await terminal.read())["type"] == "error"
    terminal.write(type="message", id="m1", text="Hi")
    assert (await terminal.read())["type"] == "ack"


async def test_the_connection_survives_a_too_long_line(console: Console) -> None:
    terminal = await console.open()
    for size in (8_000_001, 20_000_000):
        terminal.writer.write(b"x" * size + b"\n")
        assert (await terminal.read())["type"] == "error"
    terminal.write(type="message", id="m1", text="y" * 2_000_000)
    assert (await terminal.read())["type"] == "ack"


async def test_a_disconnected_terminal_harms_no_other(console: Console) -> None:
    dying, living = await console.open(), await console.open()
    dying.writer.write(b'{"type": "mess')
    dying.writer.transport.abort()
    sending = asyncio.create_task(console.adapter.send(OWED))
    living.write(type="got", key=(await living.read())["key"])
    assert await sending == "k1"


@pytest.mark.parametrize("longest_backlog", [1_000_000])
async def test_a_terminal_that_never_reads_is_disconnected(console: Console) -> None:
    lazy, living = await console.open(), await console.open()
    lazy.writer.transport.pause_reading()  # type: ignore[attr-defined]
    long = replace(OWED, text="x" * 400_000, is_live=True)
    for _ in range(10):
        await console.adapter.edit(long, "k1")  # type: ignore[arg-type]
        await living.read()
    lazy.writer.transport.resume_reading()  # type: ignore[attr-defined]
    assert await lazy.count_lines() < 10
    assert await living.is_answered()


async def test_a_socket_left_by_a_dead_process_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "console.sock"
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))
    adapter = ConsoleAdapter(ConsoleSettings(socket=path))
    run = asyncio.create_task(adapter.run(FakeInlet()))
    async with asyncio.timeout(PATIENCE):
        while adapter.health().state != "connected":
            await asyncio.sleep(0)
    _, writer = await asyncio.open_unix_connection(path)
    writer.close()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run


@pytest.mark.parametrize("name", ["x" * 200, "missing/console.sock"])
async def test_a_socket_that_cannot_be_made_is_reported(tmp_path: Path, name: str) -> None:
    adapter = ConsoleAdapter(ConsoleSettings(socket=tmp_path / name))
    with pytest.raises(AdapterStopped, match="socket"):
        await adapter.run(FakeInlet())


async def test_each_person_has_a_conversation_of_their_own(console: Console) -> None:
    owner, member = await console.open(), await console.open_as("7")
    theirs = replace(OWED, address=Address(chat_id="7", is_direct=True))
    member.write(type="hello")
    assert await member.is_answered()
    assert console.inlet.noticed == [theirs.address]
    member.write(type="message", id="m1", text="Hi")
    assert await member.read() == {"type": "ack", "id": "m1"}
    said = console.adapter.receive(console.inlet.taken["m1"])
    assert isinstance(said, InboundMessage)
    assert (said.address, said.sender.user_id) == (theirs.address, "7")
    sending = asyncio.create_task(console.adapter.send(theirs))
    told = await member.read()
    member.write(type="got", key=told["key"])
    assert await sending == "k1"
    assert await owner.is_answered()  # and nothing came before that
    with pytest.raises(Unreachable):
        await console.adapter.send(replace(OWED, address=Address(chat_id="8", is_direct=True)))


async def test_a_connection_can_not_become_somebody_elses(console: Console) -> None:
    member = await console.open_as("7")
    for user in ("local", "8"):
        member.write(type="open", user=user)
        assert "already" in (await member.read())["text"]
    member.write(type="message", id="m1", text="Hi")
    assert await member.read() == {"type": "ack", "id": "m1"}
    assert json.loads(console.inlet.taken["m1"].payload)["user"] == "7"
    for user in ("", "x", "-1", 7, None):
        terminal = await console.connect()
        terminal.write(type="open", user=user)
        assert (await terminal.read())["type"] == "error"
