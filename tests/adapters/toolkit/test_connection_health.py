"""Connection health is reported correctly, and logged once."""

import asyncio
import contextlib
import logging

import pytest

from adapters.errors import AdapterStopped, Unreachable
from adapters.toolkit.connection_health import ConnectionHealth


def test_a_change_is_logged_and_its_repetition_is_not(caplog: pytest.LogCaptureFixture) -> None:
    state = ConnectionHealth("Pigeon")
    with caplog.at_level(logging.INFO):
        state.note("disconnected", "It rains.")
        state.note("disconnected", "It rains.")
        state.note("connected")
    assert [(one.levelname, one.getMessage()) for one in caplog.records] == [
        ("WARNING", "Pigeon is disconnected. It rains."),
        ("INFO", "Pigeon is connected."),
    ]


def test_a_run_that_was_cancelled_was_shut_down() -> None:
    state = ConnectionHealth("Pigeon")
    with contextlib.suppress(asyncio.CancelledError), state.running():
        assert state.health().state == "starting"
        state.note("connected")
        assert state.is_connected
        raise asyncio.CancelledError
    assert (state.health().state, state.detail) == (
        "stopped",
        "Pigeon was shut down.",
    )


def test_a_fault_that_needs_a_person_stays_in_the_health() -> None:
    state = ConnectionHealth("Pigeon")
    with pytest.raises(AdapterStopped), state.running():
        raise AdapterStopped("Feed it.")
    assert (state.health().state, state.health().detail) == (
        "stopped",
        "Feed it.",
    )


def test_a_run_begins_anew_after_it_was_stopped() -> None:
    state = ConnectionHealth("Pigeon")
    with pytest.raises(AdapterStopped), state.running():
        raise AdapterStopped("Feed it.")
    with contextlib.suppress(Unreachable), state.running():
        assert (state.health().state, state.health().detail) == (
            "starting",
            "",
        )
        raise Unreachable("gone")
    assert state.detail == "Pigeon was shut down."


def test_silence_is_a_fault_only_while_connected() -> None:
    state = ConnectionHealth("Pigeon", silence=-1)
    state.note("connected")
    assert state.health().state == "connected"  # nothing was received yet
    state.note_alive()
    assert state.health().state == "disconnected"
    assert state.health().detail == "Pigeon has been silent for 0 s."
    state.note("disconnected", "It rains.")
    assert state.health().detail == "It rains."


def test_without_a_limit_silence_is_no_fault() -> None:
    state = ConnectionHealth("Pigeon")
    state.note_alive()
    state.note("connected")
    assert state.health().state == "connected"
    assert state.health().alive_at is not None
