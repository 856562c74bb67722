"""Connections break, are renewed and refused, without losing a message."""

import asyncio
import contextlib
import functools
import logging
import time
from collections.abc import Callable

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from slack_bolt.app.async_app import AsyncApp

from adapters.errors import AdapterStopped, Unreachable
from adapters.slack.adapter import SlackAdapter
from adapters.slack.api import Api
from adapters.slack.ingest.socket_mode import SocketMode
from adapters.slack.settings import SlackSettings
from tests.adapters.slack.rig import (
    ANNA,
    Rig,
    read,
    running,
    settings_for,
    to,
)
from tests.emulators import slack_faults as faults
from tests.emulators.slack import SlackEmulator
from tests.fakes.inlet import FakeInlet
from tests.patience import PATIENCE, until


async def test_the_configured_number_of_sockets_is_open(slack: SlackEmulator) -> None:
    async with running(slack, sockets=3) as rig:
        assert slack.sockets == 3
        assert rig.adapter.health().state == "connected"
        assert rig.adapter.health().alive_at is not None
    await until(lambda: slack.sockets == 0)


async def test_forced_reconnects_lose_nothing(slack: SlackEmulator) -> None:
    slack.holds_seconds = 0
    slack.after_seconds = 0.2
    async with running(slack) as rig:
        for number in range(60):
            if number % 10 == 5:
                await slack.drop_sockets()
            await slack.says(ANNA, f"number {number}")
            await asyncio.sleep(0)
        events = await rig.inlet.receives(60)
        assert sorted(read(event).text for event in events) == sorted(
            f"number {n}" for n in range(60)
        )
        assert slack.connections_opened > 2


async def test_one_broken_socket_of_two_is_not_even_noticed(rig: Rig) -> None:
    await rig.slack.says(ANNA, "before")
    await rig.inlet.receives(1)
    histories = len(rig.slack.called("conversations.history"))
    next(iter(rig.slack._sockets.open)).break_off()
    await rig.slack.says(ANNA, "after")
    await rig.inlet.receives(2)
    await until(lambda: rig.slack.connections_opened == 3)
    assert rig.adapter.health().state == "connected"
    assert len(rig.slack.called("conversations.history")) == histories


@pytest.mark.parametrize("reason", ["refresh_requested", "warning"])
async def test_a_connection_that_will_end_is_replaced_before_it_does(rig: Rig, reason: str) -> None:
    states: set[str] = set()
    may_close = asyncio.Event()
    await rig.slack.send_disconnect(reason, may_close)

    def are_replaced() -> bool:
        states.add(rig.adapter.health().state)
        return rig.slack.connections_opened == 4

    def are_closed() -> bool:
        states.add(rig.adapter.health().state)
        return reason == "warning" or rig.slack.sockets == 2

    await until(are_replaced)
    await rig.slack.says(ANNA, "still there?")
    await rig.inlet.receives(1)
    may_close.set()
    await until(are_closed)
    assert states == {"connected"}


async def test_a_half_open_connection_is_noticed_and_replaced(slack: SlackEmulator) -> None:
    async with running(slack, heartbeat=0.2) as rig:
        slack.mute_sockets()
        await slack.says(ANNA, "anybody?")
        (event,) = await rig.inlet.receives(1)
        assert read(event).text == "anybody?"
        assert slack.connections_opened == 4


async def test_pongs_keep_a_silent_connection_alive(slack: SlackEmulator) -> None:
    async with running(slack, heartbeat=0.8) as rig:
        begun = time.monotonic()
        await until(lambda: (rig.adapter.health().alive_at or 0) > begun + 1.4)
        assert rig.adapter.health().state == "connected"
        assert slack.connections_opened == 2


@pytest.mark.slow
async def test_too_many_connections_are_no_reason_to_hurry(slack: SlackEmulator) -> None:
    async with running(slack, longest_pause=0.4) as rig:
        slack.refuse_sockets("too_many_websockets")
        await slack.send_disconnect("too_many_websockets")
        await until(lambda: rig.adapter.health().state == "disconnected")
        assert "too many connections" in rig.adapter.health().detail
        before = len(slack.called("apps.connections.open"))
        began = time.monotonic()
        await until(lambda: len(slack.called("apps.connections.open")) >= before + 6)
        assert time.monotonic() - began > 0.6
        slack.refuse_sockets(None)
        await until(lambda: rig.adapter.health().state == "connected")


def _wrong_bot_token(slack: SlackEmulator) -> None:
    slack.fail("auth.test", kind=faults.ERROR, code="invalid_auth")


def _inactive_account(slack: SlackEmulator) -> None:
    slack.fail("auth.test", kind=faults.ERROR, code="account_inactive")


def _wrong_app_token(slack: SlackEmulator) -> None:
    slack.refuse_sockets("invalid_auth")


def _missing_app_scope(slack: SlackEmulator) -> None:
    slack.refuse_sockets("missing_scope")


def _missing_scope(slack: SlackEmulator) -> None:
    slack.fail("auth.test", kind=faults.ERROR, code="missing_scope")


def _switched_off(slack: SlackEmulator) -> None:
    slack.refuse_sockets("not_allowed")


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        (_wrong_bot_token, r"SLACK_BOT_TOKEN \(invalid_auth\).*OAuth & Permissions"),
        (_inactive_account, r"SLACK_BOT_TOKEN \(account_inactive\)"),
        (_wrong_app_token, r"SLACK_APP_TOKEN \(invalid_auth\).*Basic Information"),
        (_missing_app_scope, r"SLACK_APP_TOKEN lacks the scope connections:write"),
        (_missing_scope, r"lacks the permission .*install the app again"),
        (_switched_off, r"Turn Socket Mode on"),
    ],
)
async def test_a_fault_that_needs_a_person_is_reported_and_ends_the_run(
    slack: SlackEmulator,
    inlet: FakeInlet,
    fault: Callable[[SlackEmulator], None],
    sentence: str,
) -> None:
    fault(slack)
    adapter = SlackAdapter(settings_for(slack))
    async with asyncio.timeout(PATIENCE):
        with pytest.raises(AdapterStopped, match=sentence):
            await adapter.run(inlet)
    assert adapter.health().state == "stopped"
    assert adapter.health().detail


async def test_socket_mode_that_is_turned_off_ends_the_run(
    slack: SlackEmulator, inlet: FakeInlet
) -> None:
    adapter = SlackAdapter(settings_for(slack))
    running_ = asyncio.create_task(adapter.run(inlet))
    await until(lambda: slack.sockets == 2)
    await slack.send_disconnect("link_disabled")
    async with asyncio.timeout(PATIENCE):
        with pytest.raises(AdapterStopped, match="Socket Mode is turned off"):
            await running_


async def test_slack_can_be_down_at_the_start_and_later(inlet: FakeInlet) -> None:
    async with SlackEmulator() as slack:
        settings = settings_for(slack)
    adapter = SlackAdapter(settings)
    task = asyncio.create_task(adapter.run(inlet))
    try:
        await until(lambda: adapter.health().state == "disconnected")
        assert "can't be reached" in adapter.health().detail
        with pytest.raises(Unreachable):
            await adapter.send(to("D1", "nobody there"))
        for _ in range(2):
            await slack.start()
            await until(lambda: adapter.health().state == "connected")
            await slack.stop()
            await until(lambda: adapter.health().state == "disconnected")
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def test_a_server_error_is_retried(slack: SlackEmulator) -> None:
    slack.fail("auth.test", kind=faults.UNWELL, times=2)
    slack.fail("apps.connections.open", kind=faults.UNWELL, times=2)
    async with running(slack) as rig:
        assert rig.adapter.health().state == "connected"


async def test_a_refused_websockets_ticket_is_not_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    tried = asyncio.Event()

    async def open_socket(request: web.Request) -> web.Response:
        if tried.is_set():
            refused.set()
        tried.set()
        return web.json_response({"ok": True, "url": f"ws://{request.host}/link/?ticket=secret"})

    refused = asyncio.Event()
    application = web.Application()
    application.router.add_post("/api/apps.connections.open", open_socket)
    async with TestServer(application) as server:
        settings = SlackSettings(
            bot_token="xoxb-1", app_token="xapp-1", base_url=str(server.make_url("/api/"))
        )
        async with Api(settings) as api:
            reported: list[str] = []
            sockets = SocketMode(
                api,
                AsyncApp(token="xoxb-1"),
                lambda: None,
                heartbeat=1,
                longest_pause=0.01,
            )
            task = asyncio.create_task(sockets.run(1, lambda: reported.append(sockets.trouble)))
            async with asyncio.timeout(PATIENCE):
                await refused.wait()
            task.cancel()
            await asyncio.wait([task])
    assert reported
    assert "secret" not in "".join(reported) + caplog.text


async def test_a_cancelled_run_can_be_repeated_and_logs_nothing(
    slack: SlackEmulator, inlet: FakeInlet, caplog: pytest.LogCaptureFixture
) -> None:
    adapter = SlackAdapter(settings_for(slack))
    with caplog.at_level(logging.WARNING):
        for number in range(2):
            task = asyncio.create_task(adapter.run(inlet))
            await until(lambda: slack.sockets == 2)
            await slack.says(ANNA, f"number {number}")
            await inlet.receives(number + 1)
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
            await until(lambda: slack.sockets == 0)
            assert adapter.health().state == "stopped"
            with pytest.raises(Unreachable):
                await adapter.send(to(slack.dm(ANNA), "late"))
    assert caplog.messages == []


async def test_repeated_disconnects_slow_down_reconnects(slack: SlackEmulator) -> None:
    async with running(slack, sockets=1, longest_pause=0.4):
        began = time.monotonic()
        for wanted in range(slack.connections_opened + 1, slack.connections_opened + 4):
            await slack.drop_sockets()
            await slack.wait_for(functools.partial(_opened, slack, wanted))
        assert time.monotonic() - began > 0.59  # three pauses of 0.2 s to 0.4 s


def _opened(slack: SlackEmulator, wanted: int) -> bool:
    return slack.connections_opened >= wanted
