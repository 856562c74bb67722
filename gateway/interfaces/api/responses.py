"""Small parts that all routes of the HTTP server share."""

import asyncio
from collections.abc import Mapping
from http import HTTPStatus
from types import MappingProxyType
from urllib.parse import parse_qs

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import Message, Receive

LOCKED = (
    "The token is missing or wrong. `talaria tokens create NAME --person SLUG --scope api` makes"
    " one."
)
STORE = "The database is not available now. Repeat the request later."
BODY_SECONDS = 60.0
"""Seconds in which a client has to send the body of its request."""


class TooLarge(HTTPException):
    """The body of a request is larger than its route allows."""

    def __init__(self) -> None:
        super().__init__(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "The request is too large.")


class TooSlow(HTTPException):
    """The body of a request does not arrive in time."""

    def __init__(self) -> None:
        super().__init__(HTTPStatus.REQUEST_TIMEOUT, "The request takes too long to arrive.")


def refuse(
    status: HTTPStatus, sentence: str, headers: Mapping[str, str] = MappingProxyType({})
) -> Response:
    """Return a refusal with a plain sentence."""
    login = {"WWW-Authenticate": "Bearer"} if status == HTTPStatus.UNAUTHORIZED else {}
    return PlainTextResponse(f"{sentence}\n", status_code=status, headers={**login, **headers})


async def answer_disconnect(_: Request, __: Exception) -> Response:
    """Answer a client that has left before its whole request arrived; nobody reads it."""
    return Response(status_code=HTTPStatus.BAD_REQUEST)


async def answer_store_error(_: Request, __: Exception) -> Response:
    """Answer 503 while the database is unavailable."""
    return refuse(HTTPStatus.SERVICE_UNAVAILABLE, STORE)


def find_bearer(headers: Headers) -> str:
    """Return the token of the `Authorization` header, or ""."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


async def read_body(request: Request, most_bytes: int) -> bytes:
    """Read a body of limited size. Raises `TooLarge`, `TooSlow` and `ClientDisconnect`."""
    data = bytearray()
    async for piece in request.stream():
        data += piece
        if len(data) > most_bytes:
            raise TooLarge
    return bytes(data)


async def read_form(
    request: Request, most_bytes: int, *, keeps_empty: bool = False
) -> dict[str, list[str]]:
    """Read the values of a form by field, by default without empty values.

    Raises what `read_body` raises.
    """
    body = (await read_body(request, most_bytes)).decode(errors="replace")
    return parse_qs(body, keep_blank_values=keeps_empty)


def limit_body(receive: Receive, most_bytes: int | None, seconds: float) -> Receive:
    """Return a `receive` for a body of limited size, which has to arrive within `seconds`.

    It raises `TooLarge` and `TooSlow`. Without `most_bytes`, the route limits the size.
    """
    left, end = most_bytes, asyncio.get_running_loop().time() + seconds
    is_whole = False

    async def limited() -> Message:
        nonlocal left, is_whole
        if is_whole:  # from now on, the application waits for the client to leave
            return await receive()
        try:
            async with asyncio.timeout_at(end):
                message = await receive()
        except TimeoutError as error:
            raise TooSlow from error
        is_whole = not message.get("more_body")
        if left is not None:
            left -= len(message.get("body", b""))
            if left < 0:
                raise TooLarge
        return message

    return limited
