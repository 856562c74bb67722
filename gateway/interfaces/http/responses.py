"""Small parts that the routes of the HTTP server share."""

import asyncio
from http import HTTPStatus

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response

STORE = "The database is not available now. Repeat the request later."
_BODY_SECONDS = 60.0
"""Seconds that a client has for the body of its request."""


class TooLarge(Exception):
    """The body of a request is larger than its route allows."""


def refuse(status: HTTPStatus, sentence: str) -> Response:
    """Answer with a plain sentence."""
    headers = {"WWW-Authenticate": "Bearer"} if status == HTTPStatus.UNAUTHORIZED else {}
    return PlainTextResponse(f"{sentence}\n", status_code=status, headers=headers)


def find_bearer(headers: Headers) -> str:
    """Return the token of the `Authorization` header, or ""."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


async def read_body(request: Request, most_bytes: int) -> bytes:
    """Read a body of limited size in limited time.

    Raises `TooLarge`, and `ClientDisconnect` if it does not come.
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
