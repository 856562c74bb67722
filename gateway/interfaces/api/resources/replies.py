"""Parts that all resources share: page limits, ETags, and the answer for a missing id."""

import hashlib
from collections.abc import Callable, Coroutine, Sequence
from http import HTTPStatus
from typing import Annotated, Any, TypeVar

from fastapi import Path, Query
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response

from agent_core.ids import PersonId
from agent_core.state.engine.database import Connection
from agent_core.state.people import people
from agent_core.state.people.people import Person
from gateway.interfaces.api.errors import ApiError

_Model = TypeVar("_Model", bound=BaseModel)
LARGEST = 2**62
_MOST = 100
Limit = Annotated[int, Query(ge=1, le=_MOST)]
"""The most items of a page."""
Before = Annotated[int, Query(ge=1, le=LARGEST)]
"""Only items with lower ids are listed: the `next` of the previous page."""
ReplyWords = Annotated[str, Query(max_length=1000)]
"""The words of a search."""
Id = Annotated[int, Path(ge=1, le=LARGEST)]


def make_missing() -> ApiError:
    """Make the error for an id that does not exist or belongs to another person."""
    return ApiError(
        HTTPStatus.NOT_FOUND, "There is nothing with this id, or it is not yours.", code="not_found"
    )


def find_person(connection: Connection, person_id: PersonId) -> Person:
    """Return the person of a token. Raises `ApiError` if they have just been erased."""
    person = people.find(connection, person_id=person_id)
    if person is None:
        raise make_missing()
    return person


def show(model: type[_Model], value: object, /, **more: object) -> _Model:
    """Convert a stored value to a model: fields come from `more`, else from its attributes."""
    fields = {
        name: more[name] if name in more else getattr(value, name) for name in model.model_fields
    }
    return model.model_validate(fields, from_attributes=True)


def find_next(ids: Sequence[int], limit: int) -> int | None:
    """Return the `next` of a page with these ids; None after the last page."""
    return ids[-1] if len(ids) == limit else None


class TaggedRoute(APIRoute):
    """A route that adds an ETag to each answer to GET, and answers 304 if the client has that
    content.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler of requests."""
        handle = super().get_route_handler()

        async def answer(request: Request) -> Response:
            response = await handle(request)
            if request.method != "GET" or response.media_type != "application/json":
                return response
            tag = f'"{hashlib.sha256(response.body).hexdigest()[:32]}"'
            given = request.headers.get("if-none-match", "").split(",")
            if tag in [one.strip().removeprefix("W/") for one in given]:
                return Response(status_code=HTTPStatus.NOT_MODIFIED, headers={"ETag": tag})
            response.headers["ETag"] = tag
            return response

        return answer
