"""HTTP mode: signed requests are stored and answered, and nobody else's are."""

import asyncio

import aiohttp
import pytest

from adapters.errors import AdapterStopped
from adapters.messages import Button
from adapters.slack.adapter import SlackAdapter
from adapters.slack.ingest.http_mode import PATH
from tests.adapters.slack.rig import (
    ANNA,
    called,
    read,
    read_press,
    running,
    settings_for,
    to,
    until,
)
from tests.emulators.slack import SlackEmulator
from tests.fakes.inlet import FakeInlet

YES = Button(key="yes", label="Yes")


def url_of(adapter: SlackAdapter) -> str:
    assert adapter.http_port
    return f"http://127.0.0.1:{adapter.http_port}{PATH}"


def http(slack: SlackEmulator) -> dict[str, object]:
    return {"mode": "http", "signing_secret": slack.signing_secret, "http_port": 0, "app_token": ""}


async def test_everything_comes_in_as_signed_requests(
    slack: SlackEmulator, inlet: FakeInlet
) -> None:
    async with running(slack, inlet, **http(slack)) as adapter:
        await slack.post_event(url_of(adapter))
        await slack.says(ANNA, "hello")
        await inlet.receives(1)
        await slack.commands(ANNA, "stop")
        await inlet.receives(2)
        sent = await adapter.send(to(slack.dm(ANNA), "Sure?", buttons=(YES,)))
        await slack.presses(ANNA, slack.dm(ANNA), sent, "t:yes")
        said, commanded, pressed = await inlet.receives(3)
        assert (read(said).text, read(commanded).text) == ("hello", "/stop")
        assert read_press(pressed).key == "yes"
        await until(lambda: not slack.unacked())
        assert adapter.health().state == "connected"
        assert not called(slack, "apps.connections.open")


async def test_what_was_not_stored_comes_again(slack: SlackEmulator, inlet: FakeInlet) -> None:
    async with running(slack, inlet, **http(slack)) as adapter:
        await slack.post_event(url_of(adapter))
        inlet.refusals = 3
        await slack.says(ANNA, "hello")
        (event,) = await inlet.receives(1)
        await slack.redeliver()
        await inlet.is_offered(5)
        assert [*inlet.taken] == [event.event_id]


@pytest.mark.parametrize("signature", [None, "v0=00"])
async def test_a_request_that_slack_did_not_sign_is_refused(
    slack: SlackEmulator, inlet: FakeInlet, signature: str | None
) -> None:
    async with running(slack, inlet, **http(slack)) as adapter:
        headers = {"x-slack-request-timestamp": "1", "x-slack-signature": signature or ""}
        body = {"type": "event_callback", "event": {"type": "message"}}
        async with (
            aiohttp.ClientSession() as session,
            session.post(url_of(adapter), json=body, headers=headers) as answer,
        ):
            assert answer.status == 401
        assert not inlet.handed_over


@pytest.mark.parametrize("body", [b"{", b"[1]", b"\xff", b'"x"', b"null"])
async def test_what_makes_no_sense_is_refused_without_a_word_in_the_log(
    slack: SlackEmulator, inlet: FakeInlet, body: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    headers = {"Content-Type": "application/json"}
    async with (
        running(slack, inlet, **http(slack)) as adapter,
        aiohttp.ClientSession() as web,
        web.post(url_of(adapter), data=body, headers=headers) as answer,
    ):
        assert 400 <= answer.status < 500
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


async def test_who_never_ends_a_request_is_sent_away(
    slack: SlackEmulator, inlet: FakeInlet
) -> None:
    async with running(slack, inlet, **http(slack)) as adapter:
        reader, writer = await asyncio.open_connection("127.0.0.1", adapter.http_port)
        writer.write(f"POST {PATH} HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nbegin".encode())
        async with asyncio.timeout(45):
            assert b" 408 " in await reader.readline()
        writer.close()


async def test_an_address_that_is_taken_is_said(slack: SlackEmulator, inlet: FakeInlet) -> None:
    settings = settings_for(
        slack, mode="http", signing_secret="x", http_port=slack.port, http_bind="127.0.0.1"
    )
    adapter = SlackAdapter(settings)
    async with asyncio.timeout(45):
        with pytest.raises(AdapterStopped, match=f"can't listen on 127.0.0.1:{slack.port}"):
            await adapter.run(inlet)


async def test_what_was_missed_is_asked_for_in_this_mode_too(
    slack: SlackEmulator, inlet: FakeInlet
) -> None:
    slack.holds_seconds = 0
    async with running(slack, inlet, **http(slack)) as adapter:
        await slack.post_event(url_of(adapter))
        await slack.says(ANNA, "before")
        await inlet.receives(1)
        await slack.post_event(None)
    await slack.says(ANNA, "missed")
    async with running(slack, inlet, **http(slack)):
        assert read((await inlet.receives(2))[1]).text == "missed"
