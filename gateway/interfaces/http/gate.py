"""Access control of the HTTP server: the Host and Origin headers, the token and logins."""

import hmac
import ipaddress
import os
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from urllib.parse import urlsplit

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from gateway.interfaces.http.logins import SECONDS, Logins

OPEN_PATHS = frozenset({"/health"})
"""Paths that need neither token nor login."""
HOOKS = "/hooks/"
"""Paths below it hold a secret of their own, and may come from any host."""
MCP_PATH = "/mcp"
"""It has tokens of its own, and may be reached by any name of this machine."""
LOGOUT_PATH = "/logout"

_FOREIGN = (
    "This page can't be opened from other sites or host names."
    " Open the address that Talaria printed."
)
_LOCKED = "Your login is missing or has ended. Open the address that `talaria run` printed."


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """The rules of one server: its address and its token."""

    bind: str
    port: int
    token: str

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
        return len(hosts) == 1 and self._knows(hosts[0])

    def knows_origin(self, origins: Sequence[str]) -> bool:
        """Return whether the `Origin` header is absent or names this server's own page."""
        if not origins:
            return True
        scheme, _, rest = origins[0].partition("://")
        return len(origins) == 1 and scheme == "http" and self._knows(rest)

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


def make_guard(gate: Gate, logins: Logins) -> Middleware:
    """Return the middleware that checks every request first.

    A foreign host or origin gets 403, and a request without token and login 401.
    """

    @web.middleware
    async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
        headers = request.headers
        if request.path.startswith(HOOKS):
            return await handler(request)
        knows_origin = gate.knows_origin(headers.getall("Origin", ()))
        if request.path == MCP_PATH and knows_origin:
            return await handler(request)
        if not (knows_origin and gate.knows_host(headers.getall("Host", ()))):
            return _refuse(HTTPStatus.FORBIDDEN, _FOREIGN)
        if request.path in OPEN_PATHS:
            return await handler(request)
        if request.path == "/" and "token" in request.query:
            return await _log_in(gate, logins, request.query["token"])
        token, secret = _bearer(headers.get("Authorization", "")), request.cookies.get(gate.cookie)
        if not (gate.knows_token(token) or (secret and await logins.is_open(secret))):
            return _refuse(HTTPStatus.UNAUTHORIZED, _LOCKED)
        if request.path == LOGOUT_PATH and request.method == "POST":
            return await _log_out(gate, logins, secret)
        return await handler(request)

    return guard


async def _log_in(gate: Gate, logins: Logins, token: str) -> web.StreamResponse:
    """Turn the token of the printed address into a login, and remove it from the address bar."""
    if not gate.knows_token(token):
        return _refuse(HTTPStatus.UNAUTHORIZED, _LOCKED)
    response = web.Response(status=HTTPStatus.SEE_OTHER, headers={"Location": "/"})
    response.set_cookie(
        gate.cookie,
        await logins.begin(),
        path="/",
        max_age=SECONDS,
        httponly=True,
        samesite="Strict",
    )
    return response


async def _log_out(gate: Gate, logins: Logins, secret: str | None) -> web.StreamResponse:
    if secret:
        await logins.end(secret)
    response = web.Response(status=HTTPStatus.NO_CONTENT)
    response.del_cookie(gate.cookie, path="/")
    return response


def _bearer(header: str) -> str:
    scheme, _, token = header.partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def _refuse(status: HTTPStatus, sentence: str) -> web.Response:
    headers = {"WWW-Authenticate": "Bearer"} if status == HTTPStatus.UNAUTHORIZED else {}
    return web.Response(status=status, text=f"{sentence}\n", headers=headers)


_BYTES = 32
_PREFIX = "talaria_"
"""Lets the token be recognised, and masked, wherever somebody prints it."""
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
