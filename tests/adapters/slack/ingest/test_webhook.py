"""HTTP mode: signed requests are stored and answered, and no others."""

import asyncio
import hashlib
import hmac
import json
import time

import aiohttp
import pytest

from adapters.errors import AdapterStopped
from adapters.messages import Button
from adapters.slack.adapter import SlackAdapter
from adapters.slack.ingest.http_mode import PATH
from adapters.toolkit.listener import MOST_CONNECTIONS
from tests.adapters.slack.rig import (
    ANNA,
    read,
    read_press,
    running,
    settings_for,
    to,
)
from tests.emulators.slack import SlackEmulator
from tests.emulators.slack_payloads import event_callback
from tests.fakes.inlet import FakeInlet
from tests.patience import PATIENCE, until

YES = Button(key="yes", label="Yes")


def url_of(adapter: SlackAdapter) -> str:
    assert adapter.http_port
    return f"http://127.0.0.1:{adapter.http_port}{PATH}"


def http(slack: SlackEmulator) -> dict[str, object]:
    return {"mode": "http", "signing_secret": slack.signing_secret, "http_port": 0, "app_token": ""}


async def test_everything_comes_in_as_signed_requests(slack: SlackEmulator) -> None:
    async with running(slack, **http(slack)) as rig:
        await slack.post_event(url_of(rig.adapter))
        await slack.says(ANNA, "hello")
        await rig.inlet.receives(1)
        await slack.commands(ANNA, "stop")
        await rig.inlet.receives(2)
        sent = await rig.adapter.send(to(slack.dm(ANNA), "Sure?", buttons=(YES,)))
        await slack.presses(ANNA, slack.dm(ANNA), sent, "t:yes")
        said, commanded, pressed = await rig.inlet.receives(3)
        assert (read(said).text, read(commanded).text) == ("hello", "stop")
        assert read_press(pressed).key == "yes"
        await until(lambda: not slack.unacked())
        assert rig.adapter.health().state == "connected"
        assert not slack.called("apps.connections.open")


async def test_an_event_that_was_not_stored_is_repeated(slack: SlackEmulator) -> None:
    async with running(slack, **http(slack)) as rig:
        await slack.post_event(url_of(rig.adapter))
        rig.inlet.refusals = 3
        await slack.says(ANNA, "hello")
        (event,) = await rig.inlet.receives(1)
        await slack.redeliver()
        await rig.inlet.is_offered(5)
        assert [*rig.inlet.taken] == [event.event_id]


FORMS = ("application/json", "application/x-www-form-urlencoded", "multipart/form-data")
NONSENSE = (b"{", b"[1]", b"\xff", b'"x"', b"null", b"payload=%ff", b"[" * 100_000, b"")


async def post(adapter: SlackAdapter, body: bytes, headers: dict[str, str]) -> int:
    """Return the status of a request."""
    async with (
        aiohttp.ClientSession() as session,
        session.post(url_of(adapter), data=body, headers=headers) as answer,
    ):
        return answer.status


def sign(slack: SlackEmulator, body: bytes, stamp: str = "") -> dict[str, str]:
    """Return the headers of a request that Slack signed."""
    stamp = stamp or str(int(time.time()))
    secret, signed = slack.signing_secret.encode(), f"v0:{stamp}:".encode() + body
    digest = hmac.new(secret, signed, hashlib.sha256).hexdigest()
    return {"X-Slack-Request-Timestamp": stamp, "X-Slack-Signature": f"v0={digest}"}


@pytest.mark.parametrize("content_type", FORMS)
async def test_an_unsigned_request_is_not_read(
    slack: SlackEmulator, content_type: str, caplog: pytest.LogCaptureFixture
) -> None:
    now = str(int(time.time()))
    forged: list[dict[str, str]] = [{}, sign(slack, b"other"), sign(slack, b"x", stamp="1")]
    for stamp in ("x", "-1", "\u0661", "9" * 5000, now):
        forged.append({"X-Slack-Request-Timestamp": stamp, "X-Slack-Signature": "v0=\u00e4"})
    async with running(slack, **http(slack)) as rig:
        for body in (*NONSENSE, b'{"type": "url_verification", "challenge": "x"}'):
            for headers in forged:
                given = headers | {"Content-Type": content_type}
                assert await post(rig.adapter, body, given) == 401
        assert not rig.inlet.handed_over
    assert not [record for record in caplog.records if record.levelname in ("ERROR", "WARNING")]


ODD = {
    "compressed": b"POST %s HTTP/1.1\r\nHost: x\r\nContent-Encoding: deflate\r\n"
    b"Content-Length: 5\r\n\r\nabcde",
    "no chunk": b"POST %s HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
    "too short": b"POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc",
    "no method": b"\x16\x03\x01\x02\r\n\r\n",
    "other method": b"GET %s HTTP/1.1\r\nHost: x\r\n\r\nPOST /sl",
    "other path": b"GET /x%s HTTP/1.1\r\nHost: x\r\n\r\nPOST /sl",
}


@pytest.mark.parametrize("odd", ODD)
async def test_an_odd_request_ends_its_connection_and_leaves_no_traceback(
    slack: SlackEmulator, odd: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with running(slack, **http(slack)) as rig, asyncio.timeout(PATIENCE):
        reader, writer = await asyncio.open_connection("127.0.0.1", rig.adapter.http_port)
        writer.write(ODD[odd].replace(b"%s", PATH.encode()))
        await writer.drain()
        if odd == "too short":
            writer.write_eof()
        answer = await reader.read()
        writer.close()
        assert not answer or b" 4" in answer.splitlines()[0]
        assert not rig.inlet.handed_over
    assert not [record for record in caplog.records if record.exc_info]


@pytest.mark.parametrize("body", NONSENSE)
async def test_an_unreadable_signed_request_is_parked(
    slack: SlackEmulator, body: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    async with running(slack, **http(slack)) as rig:
        headers = sign(slack, body) | {"Content-Type": "application/json"}
        assert await post(rig.adapter, body, headers) == 200
        (event,) = rig.inlet.taken.values()
        with pytest.raises(ValueError, match="a request is no object"):
            rig.adapter.receive(event)
    assert not [record for record in caplog.records if record.exc_info]


async def test_an_event_of_another_workspace_is_dropped(slack: SlackEmulator) -> None:
    event = {"type": "message", "user": "U1", "text": "x", "channel": "D1"}
    theirs, ours = (
        event_callback(slack.world.app, event | {"ts": f"1763000000.00010{n}"}, f"Ev{n}")
        for n in range(2)
    )
    other = {"team_id": "T2", "context_team_id": "T2", "authorizations": [{"team_id": "T2"}]}
    async with running(slack, **http(slack)) as rig:
        for found in (theirs | other, ours):
            body = json.dumps(found).encode()
            headers = sign(slack, body) | {"Content-Type": "application/json"}
            assert await post(rig.adapter, body, headers) == 200
        (taken,) = rig.inlet.taken.values()
        assert taken.event_id.endswith("1763000000.000101")


async def test_connections_that_ask_nothing_make_room_for_slack(slack: SlackEmulator) -> None:
    event = {"type": "message", "user": "U1", "text": "x", "channel": "D1"}
    callback = event_callback(slack.world.app, event | {"ts": "1763000000.000100"}, "Ev1")
    body = json.dumps(callback).encode()
    async with running(slack, **http(slack)) as rig:
        idle = [
            await asyncio.open_connection("127.0.0.1", rig.adapter.http_port)
            for _ in range(MOST_CONNECTIONS + 1)
        ]
        headers = sign(slack, body) | {"Content-Type": "application/json"}
        assert await post(rig.adapter, body, headers) == 200
        assert await asyncio.wait_for(idle[0][0].read(), PATIENCE) == b""
        for _, writer in idle:
            writer.close()


@pytest.mark.slow
async def test_an_endless_request_is_closed(slack: SlackEmulator) -> None:
    async with running(slack, **http(slack)) as rig:
        reader, writer = await asyncio.open_connection("127.0.0.1", rig.adapter.http_port)
        writer.write(f"POST {PATH} HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nbegin".encode())
        async with asyncio.timeout(PATIENCE):
            assert b" 408 " in await reader.readline()
        writer.close()


async def test_a_used_address_is_reported(slack: SlackEmulator, inlet: FakeInlet) -> None:
    settings = settings_for(
        slack, mode="http", signing_secret="x", http_port=slack.port, http_bind="127.0.0.1"
    )
    adapter = SlackAdapter(settings)
    async with asyncio.timeout(PATIENCE):
        with pytest.raises(AdapterStopped, match=f"can't listen on 127.0.0.1:{slack.port}"):
            await adapter.run(inlet)


async def test_missed_messages_are_requested_in_this_mode_too(
    slack: SlackEmulator, inlet: FakeInlet
) -> None:
    slack.holds_seconds = 0
    async with running(slack, inlet, **http(slack)) as rig:
        await slack.post_event(url_of(rig.adapter))
        await slack.says(ANNA, "before")
        await inlet.receives(1)
        await slack.post_event(None)
    await slack.says(ANNA, "missed")
    async with running(slack, inlet, **http(slack)):
        assert read((await inlet.receives(2))[1]).text == "missed"
