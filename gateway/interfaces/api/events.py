"""`/api/events`: a person's events as a stream of server-sent events."""

from collections import Counter
from collections.abc import AsyncIterator
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Depends, Header
from starlette.requests import Request
from starlette.responses import StreamingResponse

from agent_core.ids import PersonId
from gateway.app.gateway import Gateway
from gateway.interfaces.api.access import ApiAccess
from gateway.interfaces.api.clients import STREAM, ReaderClient
from gateway.interfaces.api.errors import ApiError
from gateway.interfaces.api.streams import end_with_error, follow_feed
from gateway.outbound.event_feed import EventFeed, read_cursor
from gateway.turns.client_calls import Client

_MOST_OF_PERSON, _MOST = 4, 32
"""Most open streams of one person, and of everybody; the port serves 100 connections."""
_LONGEST_PLACE = 8000
"""Longest `Last-Event-ID`, in characters; it names every turn that is running."""
_CROWDED = "Too many event streams are open. Close some of them."


def add_events(router: APIRouter, gateway: Gateway, access: ApiAccess) -> None:
    """Add the route of events."""
    open_streams: Counter[PersonId] = Counter()

    async def take_place(client: ReaderClient) -> AsyncIterator[Client]:
        """Count the stream as open until it ends. Raises `ApiError` if too many are open."""
        person_id = client.person_id
        if open_streams[person_id] >= _MOST_OF_PERSON or open_streams.total() >= _MOST:
            wait = {"Retry-After": "5"}
            raise ApiError(
                HTTPStatus.TOO_MANY_REQUESTS, _CROWDED, code="too_many_waiting", headers=wait
            )
        open_streams[person_id] += 1
        try:
            yield client
        finally:
            open_streams[person_id] -= 1

    @router.get(
        "/events",
        summary="Follow what happens",
        response_class=StreamingResponse,
        responses=STREAM,
    )
    async def follow(
        request: Request,
        client: Annotated[Client, Depends(take_place)],
        last: Annotated[str, Header(alias="Last-Event-ID", max_length=_LONGEST_PLACE)] = "",
    ) -> StreamingResponse:
        async def is_open() -> bool:
            # A merge gives the token to another person; a new stream then follows that person.
            found = await access.find(request.headers, "api")
            return found is not None and found.person_id == client.person_id

        feed = EventFeed(client.person_id, read_cursor(last))
        lines = follow_feed(gateway.database, feed, is_open)
        return StreamingResponse(end_with_error(lines), media_type="text/event-stream")
