"""Finds the client of a request; every route of the API begins with this."""

from http import HTTPStatus
from typing import Annotated, Any

from fastapi import Depends
from fastapi.security import HTTPBearer
from starlette.requests import Request

from agent_core.state.people.token_scopes import TokenScope
from gateway.interfaces.api.access import ApiAccess
from gateway.interfaces.api.errors import ApiError
from gateway.interfaces.api.models import ErrorBody
from gateway.interfaces.api.responses import LOCKED
from gateway.turns.client_calls import Client

_UNOWNED = (
    "Nobody owns this Talaria yet. Send it a message with `talaria chat` or on the console page."
)
_CROWDED = "This token makes too many requests. Wait a minute."
_READS_ONLY = (
    "This token may ask and read, but not change anything. `talaria tokens create NAME --person"
    " SLUG --scope manage` makes one that may."
)
_BEARER = HTTPBearer(auto_error=False, description="A token of the scope api or manage.")
_EVENT = {
    "type": "object",
    "properties": {"event": {"type": "string"}, "data": {"type": "string"}},
    "required": ["data"],
}
STREAM: dict[int | str, dict[str, Any]] = {
    "200": {"content": {"text/event-stream": {"schema": _EVENT}}}
}
"""The OpenAPI responses of a route that can stream its answer as server-sent events."""
ERRORS: dict[int | str, dict[str, Any]] = {
    "4XX": {"model": ErrorBody, "description": "The request is refused."},
    "503": {"model": ErrorBody, "description": "Talaria is stopping, or its database is busy."},
}


class ClientFinder:
    """Finds the client of a request by its token, and checks the scope of the token."""

    def __init__(self, scope: TokenScope) -> None:
        self._scope = scope

    async def __call__(self, request: Request, _: Annotated[object, Depends(_BEARER)]) -> Client:
        """Return the client. Raises `ApiError` if there is none."""
        access: ApiAccess = request.app.state.access
        client = await access.find(request.headers, self._scope)
        if client is None and self._scope == "manage" and await access.find(request.headers, "api"):
            raise ApiError(HTTPStatus.FORBIDDEN, _READS_ONLY, code="insufficient_scope")
        if client is None and access.is_unowned(request.headers):
            raise ApiError(HTTPStatus.FORBIDDEN, _UNOWNED, code="no_owner")
        if client is None:
            challenge = {"WWW-Authenticate": "Bearer"}
            raise ApiError(
                HTTPStatus.UNAUTHORIZED, LOCKED, code="invalid_api_key", headers=challenge
            )
        if not access.admit(client):
            wait = {"Retry-After": "60"}
            raise ApiError(
                HTTPStatus.TOO_MANY_REQUESTS, _CROWDED, code="rate_limit_exceeded", headers=wait
            )
        return client


ReaderClient = Annotated[Client, Depends(ClientFinder("api"))]
"""The client of a route that reads data or asks the assistant."""
Manager = Annotated[Client, Depends(ClientFinder("manage"))]
"""The client of a route that changes data."""
