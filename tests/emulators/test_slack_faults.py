"""Planned faults of the emulated Slack, over sockets and HTTP."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import pytest
from aiohttp import web as aiohttp_web
from slack_bolt.app.async_app import AsyncApp
from slack_sdk.errors import SlackApiError
from slack_sdk.signature import SignatureVerifier
from slack_sdk.web.async_client import AsyncWebClient

from tests.emulators.slack import SlackEmulator
from tests.emulators.slack_cast import ANNA, Listener, listening
from tests.emulators.slack_faults import ERROR, SLOW
from tests.emulators.slack_post import Unverified
from tests.patience import PATIENCE


async def test_a_fault_can_be_of_one_channel_and_an_answer_can_be_slow(
    slack: SlackEmulator, web: AsyncWebClient
) -> None:
    slack.fail("chat.postMessage", kind=ERROR, code="is_archived", channel=slack.channel())
    slack.fail("chat.postMessage", kind=SLOW, seconds=30, channel=slack.dm(ANNA))
    posting = asyncio.create_task(web.chat_postMessage(channel=slack.dm(ANNA), text="slow"))
    await slack.wait_for(lambda: slack.texts(slack.dm(ANNA)) == ["slow"])
    _, waiting = await asyncio.wait([posting], timeout=0.2)
    assert waiting
    posting.cancel()
    with pytest.raises(SlackApiError):
        await web.chat_postMessage(channel=slack.channel(), text="x")


async def test_too_many_websockets_is_sent_on_the_socket(
    slack: SlackEmulator, web: AsyncWebClient
) -> None:
    slack.refuse_sockets("too_many_websockets")
    opened = await web.apps_connections_open(app_token=slack.app_token)
    async with aiohttp.ClientSession() as session, session.ws_connect(opened["url"]) as ws:
        assert await ws.receive_json() == {"type": "disconnect", "reason": "too_many_websockets"}
        assert (await ws.receive()).type is aiohttp.WSMsgType.CLOSE
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await session.ws_connect(opened["url"])
    assert slack.connections_opened == 0


async def test_a_restart_keeps_the_address_and_unacknowledged_events(slack: SlackEmulator) -> None:
    async with listening(slack) as app:
        app.refuses = True
        await slack.says(ANNA, "hello")
        await app.bodies_of(1)
        address = slack.base_url
        await slack.stop()
        app.refuses = False
        await slack.start()
        await app.bodies_of(2, timeout=PATIENCE)
        await slack.wait_for(lambda: not slack.unacked())
    assert slack.base_url == address
    assert [number for number, _ in app.retries] == ["0", "1"]


@asynccontextmanager
async def answering(app: AsyncApp) -> AsyncIterator[str]:
    """Bolt's own HTTP server for an app, on loopback; its address."""
    runner = aiohttp_web.AppRunner(app.web_app("/slack/events"))
    await runner.setup()
    await aiohttp_web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/slack/events"
    finally:
        await runner.cleanup()


async def test_http_deliveries_are_signed(slack: SlackEmulator) -> None:
    app = Listener(slack, signing_secret=slack.signing_secret)
    async with answering(app.app) as url:
        await slack.post_event(url)
        await slack.says(ANNA, "hello")
        await slack.commands(ANNA, "status")
        await app.bodies_of(2)
        await slack.wait_for(lambda: not slack.unacked() and slack.ephemerals(ANNA))
        await slack.post_event(None)
    assert app.events[0]["text"] == "hello"
    assert [message.shown for message in slack.ephemerals(ANNA)] == ["You said status."]


async def test_an_address_without_a_challenge_response_is_not_used(slack: SlackEmulator) -> None:
    seen: list[tuple[bytes, dict[str, str]]] = []

    async def silent(request: aiohttp_web.Request) -> aiohttp_web.Response:
        seen.append((await request.read(), dict(request.headers)))
        return aiohttp_web.Response()

    application = aiohttp_web.Application()
    application.router.add_post("/", silent)
    runner = aiohttp_web.AppRunner(application)
    await runner.setup()
    await aiohttp_web.TCPSite(runner, "127.0.0.1", 0).start()
    with pytest.raises(Unverified):
        await slack.post_event(f"http://127.0.0.1:{runner.addresses[0][1]}/")
    await runner.cleanup()
    ((body, headers),) = seen
    assert SignatureVerifier(slack.signing_secret).is_valid_request(body, headers)
    assert not SignatureVerifier("another").is_valid_request(body, headers)
