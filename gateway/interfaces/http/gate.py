"""Access control of the HTTP server: Host and Origin headers, the token, and logins."""

import hmac
import ipaddress
import os
import re
import secrets
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from http import HTTPStatus
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from starlette.requests import HTTPConnection, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agent_core.agent.named.letta_file import MOST_BYTES as AGENT_FILE_BYTES
from agent_core.errors import StoreError
from agent_core.localization import Text, use_language
from gateway.interfaces.api.access import ApiAccess
from gateway.interfaces.api.errors import answer_error
from gateway.interfaces.api.responses import (
    LOCKED,
    STORE,
    find_bearer,
    limit_body,
    refuse,
)
from gateway.interfaces.http.logins import SECONDS, Logins
from gateway.interfaces.http.page_data import read_languages
from gateway.interfaces.pages.rendering import render_note
from gateway.texts import access as texts
from gateway.texts.pages import NOT_FOUND

OPEN_PATHS = frozenset({"/health"})
"""Paths that need neither token nor login."""
HOOKS = "/hooks/"
"""Paths below this contain their own secret. Any host may call them."""
MCP_PATH = "/mcp"
"""This path has its own tokens, and accepts any host name of this machine."""
API_PATHS = ("/v1/", "/api/")
"""Paths below these need a token of the API, which browsers never send by themselves."""
DOCS = ("/api/docs", "/api/openapi.json")
"""The description of the API; a login opens it, too."""
LOGIN_PATH = "/login"
LOGOUT_PATH = "/logout"
OPEN_FILES = frozenset({LOGIN_PATH, "/pages/pages.css", "/icon.svg"})
"""Paths that a browser needs before it has a login."""

_NEEDS_PRINTED = (
    "This address needs the token that `talaria run` prints, as `Authorization: Bearer TOKEN`."
)
_MOST_BYTES = 4 * 1024 * 1024
"""Most bytes of a request to the API; clients send their whole history."""
_LARGER = {"/api/agents/import": AGENT_FILE_BYTES}
"""Most bytes of a request to these paths with a token; memory holds all of it before it is read."""
_FOREIGN = (
    "This page can't be opened from other sites or host names."
    " Open the address that Talaria printed."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """The rules of one server: its address and its token.

    `public_url` is the address of a reverse proxy in front of the server; "" if there is none.
    """

    bind: str
    port: int
    token: str
    public_url: str = ""

    @property
    def is_public(self) -> bool:
        """Return whether browsers reach this server over TLS only."""
        return self._public.scheme == "https"

    @property
    def _public(self) -> SplitResult:
        return urlsplit(self.public_url)

    @property
    def cookie(self) -> str:
        """The cookie's name. Browsers store cookies by host; the port separates two homes.

        Every port of the host receives the cookie, so it holds a login and never the token.
        """
        return f"talaria_{self.port}"

    def knows_host(self, hosts: Sequence[str]) -> bool:
        """Return whether one `Host` header names this server by an address or `localhost`.

        This stops a web page that points its own name at this machine (DNS rebinding). A server
        that listens on all addresses accepts any address.
        """
        if len(hosts) != 1:
            return False
        return self._knows(hosts[0]) or (bool(self.public_url) and hosts[0] == self._public.netloc)

    def knows_origin(self, origins: Sequence[str]) -> bool:
        """Return whether the `Origin` header is absent or names this server's own page."""
        if not origins:
            return True
        scheme, _, rest = origins[0].partition("://")
        if len(origins) > 1:
            return False
        if self.public_url and origins[0] == f"{self._public.scheme}://{self._public.netloc}":
            return True
        return scheme == "http" and self._knows(rest)

    def knows_token(self, given: str) -> bool:
        """Compare a token in constant time."""
        return hmac.compare_digest(given.encode("utf-8", "replace"), self.token.encode())

    def _knows(self, netloc: str) -> bool:
        try:
            parts = urlsplit(f"//{netloc}")
            name, port = parts.hostname or "", parts.port or 80
        except ValueError:
            return False
        if parts.netloc != netloc or parts.username is not None or port != self.port:
            return False
        if name == "localhost":
            return True
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return False
        if self.bind != "localhost" and ipaddress.ip_address(self.bind).is_unspecified:
            return True
        return address.is_loopback or name == self.bind


@dataclass(frozen=True, slots=True)
class Guard:
    """Checks every request first: a foreign host or origin gets 403, an unknown client gets 401.

    `is_of_pages` says whether a path is open to everybody with a login. `is_known` says whether a
    path exists; all others that exist need the login of the printed address.
    """

    application: ASGIApp
    gate: Gate
    logins: Logins
    access: ApiAccess
    _: KW_ONLY
    is_of_pages: Callable[[str], bool]
    is_known: Callable[[str], bool]
    body_seconds: float
    """Seconds in which a client has to send the body of its request."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        answer: ASGIApp
        most_bytes = _MOST_BYTES if scope["path"].startswith(API_PATHS) else None
        try:
            request = HTTPConnection(scope)
            answer = await self._check(request) or self.application
            if scope["path"] in _LARGER and await self.access.find(request.headers, "manage"):
                most_bytes = _LARGER[scope["path"]]
        except StoreError:
            answer = refuse(HTTPStatus.SERVICE_UNAVAILABLE, STORE)
        if scope["type"] == "http":
            receive = limit_body(receive, most_bytes, self.body_seconds)
        await answer(scope, receive, _harden(send))

    async def _check(self, request: HTTPConnection) -> Response | None:
        """Return an early answer, such as a refusal; None to pass the request on.

        Raises `StoreError`.
        """
        gate, headers, path = self.gate, request.headers, request.scope["path"]
        if path.startswith(HOOKS):
            return None
        knows_origin = gate.knows_origin(headers.getlist("origin"))
        is_described = path.startswith(DOCS)
        if knows_origin and (path == MCP_PATH or path.startswith(API_PATHS)) and not is_described:
            return None
        if not (knows_origin and gate.knows_host(headers.getlist("host"))):
            return refuse(HTTPStatus.FORBIDDEN, _FOREIGN)
        if path in OPEN_PATHS or path in OPEN_FILES:
            return None
        if path == "/" and "token" in request.query_params:
            return await self._log_in(request)
        if gate.knows_token(find_bearer(headers)):
            return None
        secret = request.cookies.get(gate.cookie, "")
        login = await self.logins.find(secret)
        if login is None:
            return await self._check_client(request)
        if path == LOGOUT_PATH and request.scope.get("method") == "POST":
            return await self._log_out(secret, request)
        if login.person_id is None or self.is_of_pages(path):
            return None
        if request.scope["type"] == "http" and not self.is_known(path):
            return _tell(request, NOT_FOUND, HTTPStatus.NOT_FOUND)
        return _tell(request, texts.ONLY_OWNERS, HTTPStatus.FORBIDDEN)

    async def _check_client(self, request: HTTPConnection) -> Response | None:
        """Check a request without a login: a person's token opens only the API's description.

        Raises `StoreError`.
        """
        is_described = request.scope["path"].startswith(DOCS)
        if await self.access.find(request.headers, "api") is not None:
            return None if is_described else refuse(HTTPStatus.FORBIDDEN, _NEEDS_PRINTED)
        locked = HTTPStatus.UNAUTHORIZED
        if is_for_people(request) or self.is_of_pages(request.scope["path"]):
            return _tell(request, texts.LOGIN_ENDED, locked)
        if is_described:
            challenge = {"WWW-Authenticate": "Bearer"}
            return answer_error(locked, LOCKED, "invalid_api_key", headers=challenge)
        return refuse(locked, _NEEDS_PRINTED)

    async def _log_in(self, request: HTTPConnection) -> Response:
        """Exchange the token in the printed address for a login, and redirect to an address without
        it.
        """
        if not self.gate.knows_token(request.query_params["token"]):
            return _tell(request, texts.LOGIN_ENDED, HTTPStatus.UNAUTHORIZED)
        response = Response(status_code=HTTPStatus.SEE_OTHER, headers={"Location": "/"})
        give_cookie(response, self.gate, await self.logins.begin())
        return response

    async def _log_out(self, secret: str, request: HTTPConnection) -> Response:
        """End a login. A form gets a sentence as the answer; the chat's script needs none."""
        await self.logins.end(secret)
        response = Response(status_code=HTTPStatus.NO_CONTENT)
        if is_for_people(request):
            response = _tell(request, texts.LOGGED_OUT, HTTPStatus.OK)
        response.delete_cookie(self.gate.cookie, path="/")
        return response


def give_cookie(response: Response, gate: Gate, secret: str) -> None:
    """Give a browser the secret of its login."""
    response.set_cookie(
        gate.cookie,
        secret,
        path="/",
        max_age=SECONDS,
        httponly=True,
        samesite="strict",
        secure=gate.is_public,
    )


def _tell(request: HTTPConnection, note: Text, status: HTTPStatus) -> Response:
    """Answer with a sentence: people get a page, programs get plain text."""
    if is_for_people(request):
        return render_note(Request(request.scope), note, status)
    with use_language(*read_languages(request.headers)):
        return refuse(status, note())


def is_for_people(request: HTTPConnection) -> bool:
    """Return whether a browser asks for a page, as opposed to a program or a script."""
    return request.scope["type"] == "http" and "text/html" in request.headers.get("accept", "")


_HARDENED = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
_CLOSE = (b"connection", b"close")


def _harden(send: Send) -> Send:
    """Add security headers to a response: no type guessing, no referrer, no caching.

    A page may set its own referrer policy. Also closes the connection, so that `Places` sees each
    request begin.
    """

    async def forward(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = list(message.get("headers", ()))
            named = {name.lower() for name, _ in own}
            added = [one for one in _HARDENED if one[0] not in named]
            message["headers"] = [*own, *added, _CLOSE]
        elif message["type"] == "websocket.http.response.start":
            message["headers"] = [*message.get("headers", ()), *_HARDENED]
        await send(message)

    return forward


_BYTES = 32
_PREFIX = "talaria_"
"""A prefix by which Talaria can recognise and mask a printed token."""
_SHAPE = re.compile(_PREFIX + r"[A-Za-z0-9_-]{43}")
"""32 bytes as `token_urlsafe` writes them."""


def load_token(path: Path) -> str:
    """Return the token in a file; create a missing or damaged one. Raises `OSError`."""
    try:
        path.chmod(0o600)
        token = path.read_text("ascii", "replace").strip()
    except FileNotFoundError:
        token = ""
    return token if _SHAPE.fullmatch(token) else _make_token(path)


def _make_token(path: Path) -> str:
    """Write the token atomically, never readable by other users."""
    token = _PREFIX + secrets.token_urlsafe(_BYTES)
    part = path.with_name(f"{path.name}.part")
    part.unlink(missing_ok=True)
    descriptor = os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        os.write(descriptor, f"{token}\n".encode())
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    part.replace(path)
    return token
