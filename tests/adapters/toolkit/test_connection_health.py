"""How a connection fares is told truly, and said once in the log."""

import asyncio
import contextlib
import logging

import pytest

from adapters.errors import AdapterStopped, Unreachable
from adapters.toolkit.connection_health import Liveness


def test_a_change_is_logged_and_its_repetition_is_not(caplog: pytest.LogCaptureFixture) -> None:
    liveness = Liveness("Pigeon")
    with caplog.at_level(logging.INFO):
        liveness.note("disconnected", "It rains.")
        liveness.note("disconnected", "It rains.")
        liveness.note("connected")
    assert [(one.levelname, one.getMessage()) for one in caplog.records] == [
        ("WARNING", "Pigeon is disconnected. It rains."),
        ("INFO", "Pigeon is connected. "),
    ]


def test_a_run_that_was_cancelled_was_shut_down() -> None:
    liveness = Liveness("Pigeon")
    with contextlib.suppress(asyncio.CancelledError), liveness.running():
        assert liveness.health().state == "starting"
        liveness.note("connected")
        assert liveness.is_connected
        raise asyncio.CancelledError
    assert (liveness.health().state, liveness.detail) == ("stopped", "Pigeon was shut down.")


def test_what_only_a_person_can_mend_stays_in_the_health() -> None:
    liveness = Liveness("Pigeon")
    with pytest.raises(AdapterStopped), liveness.running():
        raise AdapterStopped("Feed it.")
    assert (liveness.health().state, liveness.health().detail) == ("stopped", "Feed it.")


def test_a_run_begins_anew_after_it_was_stopped() -> None:
    liveness = Liveness("Pigeon")
    with pytest.raises(AdapterStopped), liveness.running():
        raise AdapterStopped("Feed it.")
    with contextlib.suppress(Unreachable), liveness.running():
        assert (liveness.health().state, liveness.health().detail) == ("starting", "")
        raise Unreachable("gone")
    assert liveness.detail == "Pigeon was shut down."


def test_silence_counts_as_a_dead_line_only_while_it_is_said_to_be_connected() -> None:
    liveness = Liveness("Pigeon", silence=-1)
    liveness.note("connected")
    assert liveness.health().state == "connected"  # nothing was heard yet
    liveness.note_alive()
    assert liveness.health().state == "disconnected"
    assert liveness.health().detail == "Pigeon has been silent for 0 s."
    liveness.note("disconnected", "It rains.")
    assert liveness.health().detail == "It rains."


def test_without_a_bound_silence_is_no_matter() -> None:
    liveness = Liveness("Pigeon")
    liveness.note_alive()
    liveness.note("connected")
    assert liveness.health().state == "connected"
    assert liveness.health().alive_at is not None
