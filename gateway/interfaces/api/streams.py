"""Server-sent events: a person's events, and an answer in pieces while it grows."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable

from agent_core.errors import StoreError
from agent_core.state.engine.database import Database
from gateway.interfaces.api.answers import ApiAnswer
from gateway.interfaces.api.errors import ApiError
from gateway.interfaces.api.requests import Question, Requests
from gateway.interfaces.api.responses import STORE
from gateway.outbound.event_feed import EventFeed

_LOOK = 1.0
"""Seconds between two checks for events. Any process may write, so no signal covers all changes."""
_QUIET = 15
"""Checks without an event after which a comment keeps the connection open."""


_JSON = ("{", "[")


async def grow(requests: Requests, question: Question) -> AsyncIterator[str | ApiAnswer]:
    """Yield the pieces of an answer, "" as a keep-alive, and finally the answer itself.

    Sent pieces can't be changed. If the final text differs, all of it follows what was sent. A text
    that has to fit a schema is sent at once unless it begins as JSON: no other words may precede.
    """
    sent, has_schema = "", bool(question.wishes.response_schema)
    async for text in requests.follow(question):
        is_ready = not has_schema or text.startswith(_JSON)
        if is_ready and len(text) > len(sent) and text.startswith(sent):
            yield text[len(sent) :]
            sent = text
        else:
            yield ""
    answer = await requests.read(question)
    rest = answer.text.removeprefix(sent)
    if not answer.text.startswith(sent) and answer.text:
        rest = f"\n\n{answer.text}"
    if rest:
        yield rest
    yield answer


async def end_with_error(lines: AsyncIterator[str]) -> AsyncIterator[str]:
    """Pass events on, and end with an error event if one fails: the HTTP status is sent already."""
    try:
        async for line in lines:
            yield line
    except ApiError as error:
        yield _write_error(str(error.detail), error.code)
    except StoreError:
        yield _write_error(STORE, "store_unavailable")


def _write_error(sentence: str, code: str) -> str:
    error = {"message": sentence, "type": "server_error", "param": None, "code": code}
    return write_event({"type": "error", "error": error})


ALIVE = ": waiting\n\n"
"""A comment that keeps the connection open: clients skip it, and proxies see traffic."""


def write_event(fields: dict[str, object], event: str = "") -> str:
    """Write an event. JSON in ASCII has no line breaks, so no text can end the event."""
    head = f"event: {event}\n" if event else ""
    return f"{head}data: {json.dumps(fields)}\n\n"


async def follow_feed(
    database: Database, feed: EventFeed, is_open: Callable[[], Awaitable[bool]]
) -> AsyncIterator[str]:
    """Yield the events of a feed as text while `is_open`. Raises `StoreError`."""
    yield ALIVE
    quiet = 0
    while await is_open():
        events = await database.read(feed.read)
        for number, event in enumerate(events, start=1):
            # Only the last event has an id: a client that resumes after an earlier one would lose
            # some.
            is_last = number == len(events)
            head = f"id: {feed.cursor.write()}\n" if is_last and feed.cursor else ""
            yield head + write_event(event.fields, event.kind)
        quiet = 0 if events else quiet + 1
        if quiet == _QUIET:
            quiet = 0
            yield ALIVE
        await asyncio.sleep(_LOOK)
