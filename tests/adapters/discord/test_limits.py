"""Rate limits: obeyed before a call, reported to the gateway, and no message is lost."""

import asyncio

import pytest

from adapters.discord.adapter import DiscordAdapter
from adapters.errors import RateLimited, Unreachable, Unsure
from adapters.messages import OutboundMessage
from tests.adapters.discord.rig import ANNA, Rig, direct, queued, running
from tests.emulators import discord_faults as faults
from tests.emulators.discord import DiscordEmulator
from tests.patience import PATIENCE, until


async def insist(adapter: DiscordAdapter, message: OutboundMessage) -> str:
    """Send like the gateway: retry after the requested pause."""
    while True:
        try:
            return await adapter.send(message)
        except RateLimited as pause:
            await asyncio.sleep(pause.retry_after)
        except Unreachable:  # a busy machine accepts few of two hundred connections in time
            await asyncio.sleep(0.1)


@pytest.mark.slow
async def test_two_hundred_people_at_once_all_get_their_message(api: DiscordEmulator) -> None:
    api.limits(True, is_global=True)
    people = range(1, 201)
    messages = [queued(direct(api, number), f"for {number}", f"k{number}") for number in people]
    async with running(api, messages_per_second=40) as rig:
        await asyncio.gather(*(insist(rig.adapter, message) for message in messages))
    assert [api.texts(api.dm(number)) for number in people] == [[f"for {n}"] for n in people]
    assert api.limit_refusals < 75  # some where a busy machine bunches calls; unpaced, 500


async def test_the_last_allowed_call_is_not_delayed(api: DiscordEmulator) -> None:
    api.limits(True)
    api.rest.limits.bucket_seconds = 300.0
    async with running(api) as rig, asyncio.timeout(PATIENCE):
        for number in range(5):
            await rig.adapter.send(queued(direct(api), f"number {number}", f"k{number}"))
        with pytest.raises(RateLimited) as reported:
            await rig.adapter.send(queued(direct(api), "number 5", "k5"))
        assert 1 < reported.value.retry_after <= 300
        assert api.limit_refusals == 0


async def test_allowed_calls_are_not_refused_for_a_long_window(api: DiscordEmulator) -> None:
    api.limits(True)
    api.rest.limits.bucket_seconds = 300.0
    async with running(api) as rig:
        for number in range(5):
            await rig.adapter.send(queued(direct(api), f"number {number}", f"k{number}"))
    assert len(api.texts(api.dm(ANNA))) == 5


async def test_a_short_pause_is_waited_out(rig: Rig) -> None:
    rig.api.fail(faults.SEND, kind=faults.LIMIT, retry_after=0.05, times=2)
    await rig.adapter.send(queued(direct(rig.api), "hello"))
    assert rig.api.texts(rig.api.dm(ANNA)) == ["hello"]


async def test_a_global_pause_is_reported_too(rig: Rig) -> None:
    rig.api.fail(faults.SEND, kind=faults.LIMIT, retry_after=9, is_global=True)
    with pytest.raises(RateLimited) as reported:
        await rig.adapter.send(queued(direct(rig.api), "hello"))
    assert reported.value.retry_after == 9
    await rig.adapter.send(queued(direct(rig.api), "hello"))


async def test_a_server_error_leaves_the_delivery_unknown(rig: Rig) -> None:
    rig.api.fail(faults.SEND, kind=faults.ERROR, status=503)
    with pytest.raises(Unsure, match="503"):
        await rig.adapter.send(queued(direct(rig.api), "hello"))
    rig.api.fail(faults.SEND, kind=faults.ERROR, status=502)
    await rig.adapter.send(
        queued(direct(rig.api), "hello")
    )  # discord.py repeats it, with its nonce
    assert rig.api.texts(rig.api.dm(ANNA)) == ["hello"]


async def test_a_proxys_page_leaves_the_delivery_unknown(rig: Rig) -> None:
    rig.api.fail(faults.SEND, kind=faults.ERROR, status=200)
    with pytest.raises(Unsure, match="can't be read"):
        await rig.adapter.send(queued(direct(rig.api), "hello"))


async def test_a_cancelled_call_in_a_global_pause_blocks_nobody(rig: Rig) -> None:
    rig.api.fail(faults.TYPING, kind=faults.LIMIT, retry_after=0.4, is_global=True)
    typing = asyncio.create_task(rig.adapter.type(direct(rig.api)))
    await until(lambda: any(path.endswith("/typing") for _, path in rig.api.calls))
    await asyncio.wait([typing], timeout=0.1)  # its refusal is on the way back
    typing.cancel()
    await asyncio.wait([typing])
    async with asyncio.timeout(PATIENCE):
        await rig.adapter.send(queued(direct(rig.api), "hello"))
    assert rig.api.texts(rig.api.dm(ANNA)) == ["hello"]


async def test_a_disconnect_between_two_tries_leaves_the_delivery_unknown(
    api: DiscordEmulator,
) -> None:
    async with running(api) as rig:
        api.fail(faults.SEND, kind=faults.ERROR, status=502)
        sending = asyncio.create_task(rig.adapter.send(queued(direct(api), "hello")))
        await until(lambda: any(method == "POST" for method, _ in api.calls))
        await asyncio.wait([sending], timeout=0.1)  # until discord.py waits for its second try
    with pytest.raises(Unsure):
        await sending
