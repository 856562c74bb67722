"""Every error of discord.py and every refusal of Discord maps to an error of this package."""

import inspect
from typing import Any

import aiohttp
import discord
import pytest

from adapters.discord.client import SessionLimit, TooManyStarts
from adapters.discord.errors import (
    AlreadyThere,
    ChannelUnknown,
    NoReplies,
    NotPermitted,
    TooLate,
    translate,
)
from adapters.errors import (
    AdapterError,
    AdapterStopped,
    ChatGone,
    MessageGone,
    MessageLocked,
    RateLimited,
    Rejected,
    Unreachable,
    Unsure,
)
from tests.tables import check_each

CLASSES = [
    found
    for _, found in inspect.getmembers(discord.errors, inspect.isclass)
    if issubclass(found, discord.DiscordException) and found.__module__ == "discord.errors"
]


class Answer:
    """The parts of a response that discord.py's errors read."""

    reason = "Because"

    def __init__(self, status: int, headers: dict[str, str] | None = None) -> None:
        self.status = status
        self.headers = headers or {}


def refusal(status: int, code: int, kind: Any = discord.HTTPException) -> Any:
    return kind(Answer(status), {"code": code, "message": "No"})


def made(kind: Any, *parts: Any) -> Any:
    return kind(*parts)


def make(kind: Any) -> Any:
    """One error of a class of discord.py."""
    if issubclass(kind, discord.HTTPException):
        return refusal(400, 1, kind)
    if issubclass(kind, discord.ConnectionClosed):
        socket: Any = type("Socket", (), {"close_code": 4000})
        return kind(socket, shard_id=None)
    if issubclass(kind, discord.RateLimited):
        return kind(3.0)
    if kind.__name__ in ("InteractionResponded", "PrivilegedIntentsRequired"):
        return kind(None)
    return kind() if kind.__name__ == "GatewayNotFound" else kind("Because")


def test_every_error_of_the_sdk_is_mapped() -> None:
    def check(kind: Any) -> None:
        found = translate(make(kind))
        assert isinstance(found, AdapterError)
        assert str(found).endswith(".")

    check_each(CLASSES, check)


REFUSALS = (
    (404, 10003, ChannelUnknown),
    (404, 10004, ChatGone),
    (404, 10008, MessageGone),
    (404, 10015, ChatGone),
    (404, 10062, TooLate),
    (400, 40060, TooLate),
    (403, 50001, ChatGone),
    (403, 50005, MessageLocked),
    (403, 50007, ChatGone),
    (400, 50083, MessageLocked),
    (403, 50013, NotPermitted),
    (403, 50278, ChatGone),
    (401, 50027, ChatGone),
    (400, 50006, Rejected),
    (400, 50035, Rejected),
    (400, 160002, NoReplies),
    (400, 160004, AlreadyThere),
    (400, 160005, ChatGone),
    (401, 0, AdapterStopped),
    (404, 0, Rejected),
    (500, 0, Unreachable),
    (503, 0, Unreachable),
)


def test_refusals_are_distinguished_by_code() -> None:
    def check(row: tuple[int, int, type[AdapterError]]) -> None:
        status, code, kind = row
        assert type(translate(refusal(status, code))) is kind

    check_each(REFUSALS, check)


def test_a_page_of_a_proxy_is_no_refusal_of_discord() -> None:
    blocked: Any = made(discord.Forbidden, Answer(403), "<html>")
    assert type(translate(blocked)) is Unreachable
    page = {"Content-Type": "text/html"}
    lost: Any = made(discord.NotFound, Answer(404, page), "<html>")
    assert type(translate(lost)) is Unreachable
    large: Any = made(discord.HTTPException, Answer(413, page), "<html>")
    assert type(translate(large)) is Rejected
    banned: Any = made(discord.HTTPException, Answer(429, {"Retry-After": "7"}), "x")
    found = translate(banned)
    assert isinstance(found, RateLimited)
    assert found.retry_after == 7


@pytest.mark.parametrize(
    "error",
    [
        TimeoutError(),
        ConnectionResetError(),
        aiohttp.ServerDisconnectedError(),
        ValueError("no JSON"),
        refusal(502, 0),
    ],
)
def test_a_request_without_a_clear_response_may_be_applied(error: Exception) -> None:
    assert type(translate(error, lost=Unsure)) is Unsure
    assert type(translate(error)) is Unreachable


def test_an_unsent_request_is_not_applied() -> None:
    key: Any = type("Key", (), {"ssl": True, "host": "discord.com", "port": 443})
    never = aiohttp.ClientConnectorError(key, OSError(111, "refused"))
    assert type(translate(never, lost=Unsure)) is Unreachable
    assert type(translate(aiohttp.ConnectionTimeoutError(), lost=Unsure)) is Unreachable


def test_errors_contain_no_token() -> None:
    url = "https://discord.com/api/v10/webhooks/1/secret-token"
    info: Any = type("Info", (), {"real_url": url, "method": "POST"})
    error = aiohttp.ClientResponseError(info, (), message=url)
    assert "secret-token" not in str(translate(error, lost=Unsure))


def test_sessions_are_counted_within_an_hour() -> None:
    session_limit = SessionLimit()
    for moment in range(50):
        session_limit.note(1000.0 + moment)
    with pytest.raises(TooManyStarts) as reported:
        session_limit.note(1100.0)
    assert reported.value.wait == 3500
    session_limit.note(4600.0)
    with pytest.raises(TooManyStarts):
        session_limit.check(4600.5)
    session_limit.check(4601.0)
