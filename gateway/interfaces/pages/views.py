"""The request that a view of a page gets, and the fields that it returns for the template."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request

from agent_core.state.people.people import Person
from gateway.app.gateway import Gateway
from gateway.interfaces.contexts import open_context
from gateway.interfaces.pages.rendering import Viewer
from gateway.operations.contract import OperationContext

Fields = Mapping[str, Any]
"""The values that a template shows."""
LARGEST = 2**62
"""Upper limit of ids from addresses; the database could not compare larger numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """A person's request for a page. It gives access to the person's own data."""

    gateway: Gateway
    viewer: Viewer
    person: Person
    request: Request

    @property
    def context(self) -> OperationContext:
        """The services of operations, for changes by the person."""
        return open_context(self.gateway, actor="person")

    def find_id(self, name: str) -> int:
        """Return an id from the path of the address."""
        return min(int(self.request.path_params[name]), LARGEST)

    def read_number(self, name: str, default: int = 0) -> int:
        """Return a number from the query; the default if it is missing."""
        return parse_number(self.request.query_params.get(name, ""), default)


def parse_number(text: str, default: int) -> int:
    """Parse a number that a browser sent; the default if it is not a number."""
    return int(text[:18]) if text.isascii() and text.isdecimal() else default


class Missing(Exception):
    """Raised if an address has no page, or one that belongs to somebody else."""


View = Callable[[Look], Awaitable[Fields]]
"""Reads the content of a page, or makes a change.

Raises `Missing`, `Declined` and `StoreError`.
"""
