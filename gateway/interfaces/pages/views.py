"""What a view of a page gets and gives."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request

from agent_core.state.people.people import Person
from gateway.bootstrap.lifecycle import Gateway
from gateway.interfaces.pages.rendering import Viewer

Fields = Mapping[str, Any]
"""What a template shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """A request for a page by a person, who sees their own data."""

    gateway: Gateway
    viewer: Viewer
    person: Person
    request: Request


class Missing(Exception):
    """There is nothing at the address, or it belongs to somebody else."""


View = Callable[[Look], Awaitable[Fields]]
"""Reads what a page shows, or makes a change. Raises `Missing`, `Declined` and `StoreError`."""
