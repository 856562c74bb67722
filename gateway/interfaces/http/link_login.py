"""The page of one-time links.

It first shows a button, because the link preview of a chat app must not use the link up.
"""

from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from gateway.interfaces.api.responses import read_form
from gateway.interfaces.http.gate import LOGIN_PATH, Gate, give_cookie
from gateway.interfaces.http.logins import Logins
from gateway.interfaces.pages.rendering import NOBODY, render, render_note
from gateway.texts import access as texts

_MOST_BYTES = 4096
_START = "/today"


class LinkLogin:
    """Shows the button of a link, and begins a login when somebody presses it."""

    def __init__(self, logins: Logins, gate: Gate) -> None:
        self._logins = logins
        self._gate = gate

    def list_routes(self) -> list[BaseRoute]:
        """List the routes of links."""
        return [
            Route(LOGIN_PATH, self._show),
            Route(LOGIN_PATH, self._open, methods=["POST"]),
        ]

    async def _show(self, request: Request) -> Response:
        link = request.query_params.get("link", "")
        if not await self._logins.knows_link(link):
            return _refuse(request)
        return render(request, NOBODY, "login.html", link=link)

    async def _open(self, request: Request) -> Response:
        link = (await read_form(request, _MOST_BYTES)).get("link", [""])[0]
        secret = await self._logins.follow_link(link)
        if secret is None:
            return _refuse(request)
        response = Response(status_code=HTTPStatus.SEE_OTHER, headers={"Location": _START})
        give_cookie(response, self._gate, secret)
        return response


def _refuse(request: Request) -> Response:
    return render_note(request, texts.LINK_ENDED, HTTPStatus.UNAUTHORIZED)
