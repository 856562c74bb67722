"""The parts that all resources share: limits of a list, tags, and the answer for a missing id."""

import hashlib
from collections.abc import Sequence
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import Path, Query
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response

from agent_core.ids import PersonId
from agent_core.state.engine.database import Connection
from agent_core.state.people import people
from agent_core.state.people.people import Person
from gateway.interfaces.api.errors import ApiError

LARGEST = 2**62
_MOST = 100
Limit = Annotated[int, Query(ge=1, le=_MOST)]
"""The most items of a page."""
Before = Annotated[int, Query(ge=1, le=LARGEST)]
"""The id below which a page begins: `next` of the page before."""
Words = Annotated[str, Query(max_length=1000)]
"""The words of a search."""
Id = Annotated[int, Path(ge=1, le=LARGEST)]


def make_missing() -> ApiError:
    """Make the answer for an id that does not exist, or belongs to another person."""
    return ApiError(
        HTTPStatus.NOT_FOUND, "There is nothing with this id, or it is not yours.", code="not_found"
    )


def find_person(connection: Connection, person_id: PersonId) -> Person:
    """Return the person of a token. Raises `ApiError` if they were erased in this moment."""
    person = people.find(connection, person_id=person_id)
    if person is None:
        raise make_missing()
    return person


def pick(value: object, *names: str) -> dict[str, Any]:
    """Return these attributes of a value by their names."""
    return {name: getattr(value, name) for name in names}


def find_next(ids: Sequence[int], limit: int) -> int | None:
    """Return where the next page begins, from the ids of a page; None after the last."""
    return ids[-1] if len(ids) == limit else None


def reply(request: Request, found: BaseModel) -> Response:
    """Answer with an ETag, or with 304 if the client has this content already."""
    body = found.model_dump_json().encode()
    tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    given = request.headers.get("if-none-match", "").split(",")
    known = [one.strip().removeprefix("W/") for one in given]
    if tag in known:
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers={"ETag": tag})
    return Response(body, media_type="application/json", headers={"ETag": tag})
