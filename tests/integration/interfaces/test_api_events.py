"""The stream of events: what it tells, to whom, and from where it continues."""

import asyncio
import json
from collections.abc import AsyncIterator

import aiohttp
import pytest

from agent_core.state.lifecycle import merge_people
from tests.fakes.model import say
from tests.integration.interfaces.api_setup import Setup, chat_of, find_named
from tests.integration.processes import talaria_beside
from tests.patience import PATIENCE

Told = tuple[str, str, dict[str, object]]
"""The id, the name and the fields of an event."""


async def follow(setup: Setup, key: str, last: str = "") -> AsyncIterator[Told]:
    """The events of a stream; ends when the server ends it."""
    url = f"{setup.served.address.origin()}/api/events"
    headers = {"Authorization": f"Bearer {key}", **({"Last-Event-ID": last} if last else {})}
    async with aiohttp.ClientSession() as session, session.get(url, headers=headers) as answer:
        assert answer.status == 200, await answer.text()
        fields: dict[str, str] = {}
        async for raw in answer.content:
            line = raw.decode().rstrip("\n")
            if line.startswith(":"):
                yield "", "", {}
            elif line:
                name, _, value = line.partition(": ")
                fields[name] = value
            elif fields:
                yield fields.get("id", ""), fields["event"], json.loads(fields["data"])
                fields = {}


async def collect(stream: AsyncIterator[Told], last_name: str) -> list[Told]:
    """The events up to one of this name."""
    found = []
    async with asyncio.timeout(PATIENCE):
        async for told in stream:
            if told[1]:
                found.append(told)
            if told[1] == last_name:
                return found
    raise AssertionError(found)


async def test_turns_are_told_to_their_person_alone_and_continued(setup: Setup) -> None:
    setup.model.plays = [say("one"), say("two")]
    olgas, zebranas = follow(setup, setup.olga), follow(setup, setup.zebrana)
    await anext(olgas), await anext(zebranas)
    await setup.post("chat/completions", setup.olga, chat_of("hello"))
    found = await collect(olgas, "turn.ended")
    assert [name for _, name, _ in found] == ["turn.started", "turn.ended"]
    assert found[0][2]["turn"] == found[1][2]["turn"]
    assert found[1][2]["state"] == "answered"
    place = found[-1][0]
    await olgas.aclose()  # type: ignore[attr-defined]
    await setup.post("chat/completions", setup.olga, chat_of("while nobody listens"))
    again = await collect(follow(setup, setup.olga, place), "turn.ended")
    assert [name for _, name, _ in again] == ["turn.started", "turn.ended"]
    assert again[0][2]["turn"] != found[0][2]["turn"]
    setup.model.plays = [say("three")]
    await setup.post("chat/completions", setup.zebrana, chat_of("mine"))
    mine = await collect(zebranas, "turn.ended")
    assert len(mine) == 2


async def test_a_stream_ends_with_its_token(setup: Setup) -> None:
    stream = follow(setup, setup.olga)
    await anext(stream)
    revoked = await talaria_beside(setup.home, "tokens", "revoke", "1")
    assert revoked.code == 0, revoked.err
    async with asyncio.timeout(PATIENCE):
        assert [one async for one in stream if one[1]] == []


async def test_a_stream_ends_with_its_person_and_the_next_follows_the_merged_one(
    setup: Setup,
) -> None:
    olga, zebrana = await find_named(setup, "olga"), await find_named(setup, "zebrana")
    stream = follow(setup, setup.zebrana)
    await anext(stream)
    await setup.served.gateway.database.write(
        "test",
        lambda c: merge_people.merge(
            c, kept=olga.id, absorbed=zebrana.id, rename=lambda one: one.key, now=1
        ),
    )
    async with asyncio.timeout(PATIENCE):
        assert [one async for one in stream if one[1]] == []
    again = follow(setup, setup.zebrana)
    await anext(again)
    setup.model.plays = [say("one")]
    await setup.post("chat/completions", setup.olga, chat_of("hello"))
    assert len(await collect(again, "turn.ended")) == 2


async def test_a_person_holds_a_limited_number_of_streams(setup: Setup) -> None:
    streams = [follow(setup, setup.olga) for _ in range(4)]
    for stream in streams:
        await anext(stream)
    with pytest.raises(AssertionError, match="Too many event streams"):
        await anext(follow(setup, setup.olga))
    await anext(follow(setup, setup.zebrana))


async def test_streams_that_open_at_once_hold_no_more_and_free_their_places(setup: Setup) -> None:
    streams = [follow(setup, setup.olga) for _ in range(9)]
    opened = await asyncio.gather(*map(anext, streams), return_exceptions=True)
    held = [one for one, told in zip(streams, opened, strict=True) if isinstance(told, tuple)]
    assert len(held) == 4
    for stream in held:
        await stream.aclose()  # type: ignore[attr-defined]

    async def is_free() -> bool:
        stream = follow(setup, setup.olga)
        try:
            await anext(stream)
        except AssertionError:
            return False
        return True

    async with asyncio.timeout(PATIENCE):
        while not await is_free():
            await asyncio.sleep(0.05)
