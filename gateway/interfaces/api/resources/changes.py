"""Shared by all routes that change data: the idempotency key, and the errors of operations."""

import hashlib
from collections.abc import Awaitable
from http import HTTPStatus
from typing import Annotated, TypeVar

from fastapi import Header

from agent_core.state.people.deeds import Doer
from gateway.app.gateway import Gateway
from gateway.errors import Declined, Mistaken
from gateway.interfaces.api.errors import ApiError
from gateway.interfaces.contexts import open_context
from gateway.operations.contract import OperationContext
from gateway.people.admission import API_PLATFORM
from gateway.turns.client_calls import Client

_Result = TypeVar("_Result")
ChangeKey = Annotated[str, Header(alias="Idempotency-Key", max_length=200)]
"""The idempotency key: a repeat of a request with the same key changes nothing."""


def hash_key(client: Client, key: str) -> str | None:
    """Return the stored form of a request's key; None without a key.

    Two clients may use the same key: the stored form depends on the client.
    """
    if not key:
        return None
    parts = (str(client.person_id), client.name, key)
    whole = "".join(f"{len(part)}:{part}" for part in parts)
    return f"api:{hashlib.sha256(whole.encode()).hexdigest()}"


def open_own(gateway: Gateway, client: Client) -> OperationContext:
    """Return the services of an operation that a person performs on their own data."""
    own = client.person_id
    return open_context(gateway, Doer(person_id=own, owner_id=own, platform=API_PLATFORM))


async def perform(work: Awaitable[_Result]) -> _Result:
    """Await a change. Turns its refusal into an `ApiError`. Raises `StoreError`, too."""
    try:
        return await work
    except Mistaken as error:
        raise ApiError(HTTPStatus.BAD_REQUEST, str(error), code="invalid_request") from error
    except Declined as error:
        raise ApiError(HTTPStatus.CONFLICT, str(error), code="declined") from error
