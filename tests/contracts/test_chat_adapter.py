"""What every chat platform does for Talaria, the same for all of them."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from adapters.abilities import CanEdit, CanFind, CanType
from adapters.errors import Unreachable, Unsure
from adapters.ids import EventId, PlatformMessageId
from adapters.messages import OutboundMessage, RawEvent
from gateway.plugs import platforms
from tests.contracts.rigs import RIGS, ConsoleRig, Rig
from tests.fakes.inlet import FakeInlet

LONG = (
    "A sentence of a few words. " * 400 + "\n\n```py\n" + "print('x')\n" * 600 + "```\n\nThe end."
)


@pytest.fixture
def inlet() -> FakeInlet:
    return FakeInlet()


@pytest.fixture(params=RIGS)
async def rig(
    request: pytest.FixtureRequest, tmp_path: Path, inlet: FakeInlet
) -> AsyncIterator[Rig]:
    """A platform with its adapter running."""
    async with RIGS[request.param](tmp_path) as rig, contextlib.AsyncExitStack() as stack:
        running = asyncio.create_task(rig.adapter.run(inlet))
        stack.push_async_callback(_end, running)
        if isinstance(rig, ConsoleRig):
            await stack.enter_async_context(rig.looking())
        async with asyncio.timeout(10):
            while rig.adapter.health().state != "connected":
                await asyncio.sleep(0.01)
        yield rig


async def _end(running: asyncio.Task[None]) -> None:
    running.cancel()
    async with asyncio.timeout(5):
        with contextlib.suppress(asyncio.CancelledError):
            await running


def message(rig: Rig, text: str, key: str = "key 1") -> OutboundMessage:
    return OutboundMessage(address=rig.address, text=text, key=key)


async def deliver(rig: Rig, owed: OutboundMessage, known: PlatformMessageId) -> str:
    """Send as the hall does: when unsure, look first, and send again only what is not there."""
    for _ in range(5):
        try:
            return await rig.adapter.send(owed)
        except Unsure:
            with contextlib.suppress(Unsure):
                found = await rig.adapter.find(owed, [known])
                if found is not None:
                    return found
    raise AssertionError("it never got through")


def test_every_platform_keeps_the_contract() -> None:
    assert set(platforms()) <= set(RIGS)


def test_an_adapter_is_named_after_its_folder(rig: Rig, request: pytest.FixtureRequest) -> None:
    assert f"[{rig.adapter.name}]" in request.node.name
    assert isinstance(rig.adapter, CanEdit)
    assert isinstance(rig.adapter, CanFind)
    assert isinstance(rig.adapter, CanType)


async def test_what_a_person_writes_is_handed_over_and_read(rig: Rig, inlet: FakeInlet) -> None:
    await rig.says("Good morning 👋")
    (event,) = await inlet.receives(1)
    found = rig.adapter.receive(event)
    assert found is not None
    assert (found.text, found.address, found.is_addressed) == ("Good morning 👋", rig.address, True)
    assert rig.adapter.receive(event) == found


async def test_messages_come_in_in_order(rig: Rig, inlet: FakeInlet) -> None:
    for number in range(20):
        await rig.says(f"number {number}")
    found = [rig.adapter.receive(event) for event in await inlet.receives(20)]
    assert [m.text for m in found if m is not None] == [f"number {n}" for n in range(20)]


async def test_what_was_not_stored_is_handed_over_again(rig: Rig, inlet: FakeInlet) -> None:
    inlet.refusals = 2
    await rig.says("keep me")
    (event,) = await inlet.receives(1)
    assert inlet.handed_over == [event.event_id] * 3


async def test_a_message_is_shown_and_named(rig: Rig) -> None:
    first = await rig.adapter.send(message(rig, "one", "k1"))
    second = await rig.adapter.send(message(rig, "two", "k2"))
    assert rig.shown() == ["one", "two"]
    assert first != second


async def test_an_edit_changes_one_message_and_may_be_repeated(rig: Rig) -> None:
    await rig.adapter.send(message(rig, "one", "k1"))
    second = await rig.adapter.send(message(rig, "two", "k2"))
    for _ in range(2):
        await rig.adapter.edit(message(rig, "two, and more", "k2"), second)
    async with asyncio.timeout(5):
        while rig.shown() != ["one", "two, and more"]:
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("mishap", ["lose_answer", "lose_request"])
async def test_an_unsure_message_is_shown_once_in_the_end(
    rig: Rig, mishap: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.console.api._CONFIRM", 0.2)
    known = await rig.adapter.send(message(rig, "before", "k0"))
    getattr(rig, mishap)()
    with pytest.raises(Unsure):
        await rig.adapter.send(message(rig, "in doubt", "k1"))
    found = await rig.adapter.find(message(rig, "in doubt", "k1"), [known])
    if found is None:
        found = await deliver(rig, message(rig, "in doubt", "k1"), known)
    assert rig.shown() == ["before", "in doubt"]
    await rig.adapter.edit(message(rig, "no doubt", "k1"), PlatformMessageId(found))
    async with asyncio.timeout(5):
        while rig.shown() != ["before", "no doubt"]:
            await asyncio.sleep(0.01)


async def test_what_surely_did_not_leave_is_told_apart(rig: Rig) -> None:
    await rig.cut()
    with pytest.raises(Unreachable):
        await rig.adapter.send(message(rig, "nobody there"))
    assert rig.shown() == []


async def test_every_part_of_a_long_text_can_be_sent(rig: Rig) -> None:
    parts = rig.adapter.split(LONG)
    for number, part in enumerate(parts):
        await rig.adapter.send(message(rig, part, f"k{number}"))
    shown = "".join(rig.shown())
    assert shown.count("sentence") == 400
    assert shown.count("print('x')") == 600
    assert shown.endswith("The end.")


async def test_a_text_always_has_a_first_part(rig: Rig) -> None:
    assert rig.adapter.split("") == ("",)
    assert rig.adapter.split("short **text**") == ("short **text**",)


async def test_typing_is_shown_without_a_word(rig: Rig) -> None:
    await rig.adapter.type(rig.address)
    assert rig.shown() == []
    assert rig.adapter.typing_lasts > 0


@pytest.mark.parametrize("payload", ["", "null", "[1]", "{}", '{"update": 7}'])
async def test_an_event_that_can_not_be_read_is_a_value_error(rig: Rig, payload: str) -> None:
    if rig.adapter.name == "fake":
        payload = '{"poison": true}'
    with pytest.raises(ValueError):
        rig.adapter.receive(RawEvent(event_id=EventId("1"), payload=payload))


async def test_a_cancelled_adapter_says_that_it_is_gone(tmp_path: Path, inlet: FakeInlet) -> None:
    for name in platforms():
        async with RIGS[name](tmp_path) as rig:
            running = asyncio.create_task(rig.adapter.run(inlet))
            async with asyncio.timeout(10):
                while rig.adapter.health().state != "connected":
                    await asyncio.sleep(0.01)
            await _end(running)
            assert rig.adapter.health().state != "connected"
            with pytest.raises(Unreachable):
                await rig.adapter.send(message(rig, "late"))
