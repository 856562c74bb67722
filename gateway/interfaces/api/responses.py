"""Small parts that all routes of the HTTP server share."""

import asyncio
from http import HTTPStatus
from urllib.parse import parse_qs

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import Message, Receive

LOCKED = (
    "The token is missing or wrong. `talaria tokens create NAME --person SLUG --scope api` makes"
    " one."
)
STORE = "The database is not available now. Repeat the request later."
_BODY_SECONDS = 60.0
"""Seconds in which a client has to send the body of its request."""


class TooLarge(HTTPException):
    """The body of a request is larger than its route allows."""

    def __init__(self) -> None:
        super().__init__(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "The request is too large.")


def refuse(status: HTTPStatus, sentence: str) -> Response:
    """Return a refusal with a plain sentence."""
    headers = {"WWW-Authenticate": "Bearer"} if status == HTTPStatus.UNAUTHORIZED else {}
    return PlainTextResponse(f"{sentence}\n", status_code=status, headers=headers)


async def answer_store_error(_: Request, __: Exception) -> Response:
    """Answer 503 while the database is unavailable."""
    return refuse(HTTPStatus.SERVICE_UNAVAILABLE, STORE)


def find_bearer(headers: Headers) -> str:
    """Return the token of the `Authorization` header, or ""."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


async def read_body(request: Request, most_bytes: int) -> bytes:
    """Read a body of limited size in limited time.

    Raises `TooLarge`, and `ClientDisconnect` if the body does not arrive in time.
    """
    data = bytearray()
    try:
        async with asyncio.timeout(_BODY_SECONDS):
            async for piece in request.stream():
                data += piece
                if len(data) > most_bytes:
                    raise TooLarge
    except TimeoutError as error:
        raise ClientDisconnect from error
    return bytes(data)


async def read_form(
    request: Request, most_bytes: int, *, keeps_empty: bool = False
) -> dict[str, list[str]]:
    """Read the values of a form by field, by default without empty values.

    Raises what `read_body` raises.
    """
    body = (await read_body(request, most_bytes)).decode(errors="replace")
    return parse_qs(body, keep_blank_values=keeps_empty)


def limit_body(receive: Receive, most_bytes: int) -> Receive:
    """Return a `receive` that raises `TooLarge` once the body is longer than `most_bytes`."""
    left = most_bytes

    async def count() -> Message:
        nonlocal left
        message = await receive()
        left -= len(message.get("body", b""))
        if left < 0:
            raise TooLarge
        return message

    return count
