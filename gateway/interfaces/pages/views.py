"""The request that a view of a page gets, and the fields that it returns for the template."""

import unicodedata
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.responses import Response

from agent_core.state.people.deeds import Doer
from agent_core.state.people.people import Person
from gateway.app.gateway import Gateway
from gateway.interfaces.contexts import open_context
from gateway.interfaces.pages.flashes import FLASH, Flash, Flashes
from gateway.interfaces.pages.rendering import Viewer, render
from gateway.operations.contract import OperationContext
from gateway.people.admission import LOCAL_PLATFORM

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
    flashes: Flashes
    said: Flash | None = None
    """What the form before this page did."""

    @property
    def flash(self) -> Mapping[str, Any]:
        """The values that the form before this page left for it; none without such a form."""
        return self.said.fields if self.said and not self.said.template else {}

    def redirect(self, path: str, *, note: str = "", **fields: Any) -> Response:
        """Answer a form: the browser opens a page, which says the note once.

        So Back and a reload send no form again. `fields` are for the page's `flash`.
        """
        if note or fields:
            name = self.flashes.keep(self.person.id, Flash(note=note, fields=fields))
            path, mark, part = path.partition("#")
            path += f"{'&' if '?' in path else '?'}{urlencode({FLASH: name})}{mark}{part}"
        return Response(status_code=HTTPStatus.SEE_OTHER, headers={"Location": path})

    def reject(self, template: str, **fields: Any) -> Response:
        """Answer a form that is wrong: show it again, with what was typed and what is wrong."""
        return self.show_again(template, HTTPStatus.UNPROCESSABLE_ENTITY, **fields)

    def show_again(self, template: str, status: HTTPStatus, **fields: Any) -> Response:
        """Answer a form with its own page.

        A browser is redirected, so that Back and a reload send no form again. A program gets the
        page at once, with the status.
        """
        if "text/html" not in self.request.headers.get("accept", ""):
            return render(self.request, self.viewer, template, status=status, **fields)
        flash = Flash(note="", fields=fields, template=template)
        name = self.flashes.keep(self.person.id, flash)
        query = urlencode([*self.request.query_params.multi_items(), (FLASH, name)])
        address = f"{quote(self.request.url.path)}?{query}"
        return Response(status_code=HTTPStatus.SEE_OTHER, headers={"Location": address})

    @property
    def doer(self) -> Doer:
        """The person, as whose deeds `/undo` knows what the pages change."""
        own = self.person.id
        return Doer(person_id=own, owner_id=own, platform=LOCAL_PLATFORM)

    @property
    def context(self) -> OperationContext:
        """The services of operations, for changes by the person."""
        return open_context(self.gateway, self.doer)

    def find_id(self, name: str) -> int:
        """Return an id from the path of the address."""
        return min(int(self.request.path_params[name]), LARGEST)

    def read_number(self, name: str, default: int = 0) -> int:
        """Return a number from the query; the default if it is missing."""
        return parse_number(self.request.query_params.get(name, ""), default)


def parse_number(text: str, default: int) -> int:
    """Parse a number that a browser sent; the default if it is not a number."""
    return int(text[:18]) if text.isascii() and text.isdecimal() else default


def is_same_name(typed: str, name: str) -> bool:
    """Return whether somebody typed a name as a page shows it: with one space for several."""
    one, other = (unicodedata.normalize("NFC", " ".join(text.split())) for text in (typed, name))
    return one == other


class Missing(Exception):
    """Raised if an address has no page, or one that belongs to somebody else."""


View = Callable[[Look], Awaitable[Fields]]
"""Reads the content of a page, or makes a change.

Raises `Missing`, `Declined` and `StoreError`.
"""
