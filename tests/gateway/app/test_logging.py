"""The log: what gets into it, what never does, and that a full disk is told once."""

import asyncio
import json
import logging
import re
from pathlib import Path

import pytest

from agent_core.ids import TurnId, use_turn
from gateway.app.credentials import Secrets
from gateway.app.logging import list_hidden, logging_to
from gateway.app.tables import LogSettings
from gateway.home import LOG

TOKEN = "123456789:AAEabcdefghijklmnopqrstuvwxyz0123456"
KEY = "not-shaped-like-any-known-key"


def read_log(home: Path) -> str:
    return home.joinpath(LOG).read_text()


def write(home: Path, level: str, *lines: tuple[str, int, str]) -> str:
    """What stands in the file after these lines of (logger, level, text)."""
    secrets = Secrets(anthropic_api_key=KEY, anthropic_base_url="http://10.0.0.1/anthropic")
    hidden = list_hidden(secrets, ())
    with logging_to(LogSettings(level=level), home, hidden=hidden, to_stderr=False):
        for name, number, text in lines:
            logging.getLogger(name).log(number, text)
    return read_log(home)


def test_secrets_are_masked_wherever_they_stand(tmp_path: Path) -> None:
    log = write(
        tmp_path,
        "info",
        ("gateway.a", logging.INFO, f"key {KEY} and token {TOKEN} of somebody"),
        ("gateway.a", logging.INFO, "at http://ada:lovelace@10.0.0.1/anthropic"),
    )
    for secret in (KEY, TOKEN, "lovelace"):
        assert secret not in log
    assert "key [hidden] and token [hidden] of somebody" in log
    assert "http://[hidden]@10.0.0.1/anthropic" in log


def test_a_long_number_does_not_hold_up_the_log(tmp_path: Path) -> None:
    log = write(tmp_path, "info", ("gateway.a", logging.INFO, f"{TOKEN} {'1' * 400_000}"))
    assert log.endswith("[hidden] [… 400,000 characters left out]\n")


def test_secrets_are_masked_in_tracebacks_too(tmp_path: Path) -> None:
    with logging_to(LogSettings(), tmp_path, hidden=[KEY], to_stderr=False):
        try:
            raise ValueError(f"refused: {KEY}")
        except ValueError:
            logging.getLogger("gateway").exception("it failed with %s", KEY)
    log = read_log(tmp_path)
    assert "ValueError: refused: [hidden]" in log
    assert KEY not in log


def test_an_entry_as_json_is_one_object_with_its_turn_and_traceback(tmp_path: Path) -> None:
    awkward = 'quo"te\\slash-of-a-secret'
    settings = LogSettings(format="json")
    with logging_to(settings, tmp_path, hidden=[awkward], to_stderr=False), use_turn(TurnId(12)):
        try:
            raise ValueError(f"refused:\n{awkward}")
        except ValueError:
            logging.getLogger("gateway.a").exception("Größe of\n%s", awkward)
    lines = read_log(tmp_path).splitlines()
    assert len(lines) == 1
    found = json.loads(lines[0])
    assert re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", found.pop("time"))
    traceback = found.pop("traceback")
    assert traceback.startswith("Traceback (most recent call last):\n")
    assert traceback.endswith("ValueError: refused:\n[hidden]")
    assert found == {
        "level": "error",
        "logger": "gateway.a",
        "turn": 12,
        "message": "Größe of\n[hidden]",
    }


async def test_lines_name_the_turn_of_their_task(tmp_path: Path) -> None:
    log = logging.getLogger("gateway.a")

    async def say(text: str) -> None:
        log.info(text)

    with logging_to(LogSettings(), tmp_path, hidden=[], to_stderr=False):
        with use_turn(TurnId(12)):
            log.info("one")
            inner = asyncio.create_task(say("two"))
        log.info("three")
        await inner
    words = [line.split()[2:] for line in read_log(tmp_path).splitlines()]
    assert words == [
        ["INFO", "turn=12", "gateway.a:", "one"],
        ["INFO", "gateway.a:", "three"],
        ["INFO", "turn=12", "gateway.a:", "two"],
    ]


def test_no_text_from_outside_passes_for_an_entry(tmp_path: Path) -> None:
    forged = "2026-11-26 01:00:00,000 INFO    turn=1 gateway.a: forged"
    log = write(tmp_path, "info", ("gateway.a", logging.INFO, f"no\n{forged}\r{forged}"))
    assert [line.startswith("    ") for line in log.splitlines()] == [False, True, True]
    assert "\r" not in log


def test_no_text_from_outside_moves_the_terminal(tmp_path: Path) -> None:
    said = "bell \x07, red \x1b[31m, title \x1b]0;x\x9c, right to left \u202e, tab \t, ü and 🙂"
    log = write(tmp_path, "info", ("gateway.a", logging.INFO, said))
    assert log.rstrip("\n").isprintable()
    shown = r"bell \x07, red \x1b[31m, title \x1b]0;x\x9c, right to left \u202e, tab \t, ü and 🙂"
    assert log.endswith(f"gateway.a: {shown}\n")


@pytest.mark.parametrize("level", ["debug", "info", "warning", "error"])
def test_the_level_opens_our_own_loggers_and_never_those_of_the_sdks(
    tmp_path: Path, level: str
) -> None:
    numbers = (logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR)
    sdks = ("telegram", "httpx", "httpx2", "anthropic", "openai", "aiosqlite", "aiohttp.access")
    lines = [
        (name, number, f"{name}-{logging.getLevelName(number)}.")
        for name in (
            "gateway.turns.runner",
            "adapters.telegram.api",
            "agent_core.agent.loop",
            *sdks,
        )
        for number in numbers
    ]
    log = write(tmp_path, level, *lines)
    least = logging.getLevelNamesMapping()[level.upper()]
    for name, number, text in lines:
        wanted = max(least, logging.WARNING) if name in sdks else least
        assert (text in log) is (number >= wanted), text


def test_the_file_is_its_owners_alone(tmp_path: Path) -> None:
    write(tmp_path, "info", ("gateway", logging.INFO, "hello"))
    assert tmp_path.joinpath(LOG).parent.stat().st_mode & 0o077 == 0


def test_no_file_is_made_when_it_is_off(tmp_path: Path) -> None:
    with logging_to(LogSettings(file=False), tmp_path, hidden=[], to_stderr=True):
        logging.getLogger("gateway").warning("only told")
    assert list(tmp_path.iterdir()) == []


def test_standard_error_gets_the_same_lines(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with logging_to(LogSettings(), tmp_path, hidden=[KEY], to_stderr=True):
        logging.getLogger("gateway").warning("it is %s", KEY)
    assert capfd.readouterr().err == read_log(tmp_path)
    assert "gateway: it is [hidden]" in read_log(tmp_path)


def test_an_unwritable_log_is_reported_once(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    tmp_path.joinpath(LOG).mkdir(parents=True)
    with logging_to(LogSettings(), tmp_path, hidden=[], to_stderr=False):
        logging.getLogger("gateway").warning("first")
        logging.getLogger("gateway").warning("second")
    reported = capfd.readouterr().err
    assert reported.count("can't be written") == 1
    assert "Traceback" not in reported


def test_a_disk_that_stays_full_does_not_break_the_end(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / LOG).parent.mkdir()
    (tmp_path / LOG).symlink_to("/dev/full")
    with logging_to(LogSettings(), tmp_path, hidden=[], to_stderr=False):
        logging.getLogger("gateway").warning("hello")
    assert capfd.readouterr().err.count("can't be written: [Errno 28]") == 1


def test_logging_is_as_it_was_afterwards(tmp_path: Path) -> None:
    before = list(logging.getLogger().handlers)
    write(tmp_path, "info", ("gateway", logging.INFO, "hello"))
    assert logging.getLogger().handlers == before


def test_a_long_message_is_cut_before_it_is_masked_and_no_secret_at_the_cut_is_kept(
    tmp_path: Path,
) -> None:
    for offset in range(0, len(KEY) + 1, 7):
        text = "a " * 9_980 + "." * offset + f"{KEY} " + "7" * 2_000_000
        log = write(tmp_path, "info", ("gateway.a", logging.INFO, text))
        assert len(log) < 25_000 * (offset // 7 + 1)
        assert KEY[:6] not in log
        assert "characters left out]" in log
