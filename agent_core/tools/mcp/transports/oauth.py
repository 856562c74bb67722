"""Sign in at servers by OAuth. Tokens stay in a file of their account; all texts hide them."""

import asyncio
import fcntl
import os
import time
from collections.abc import AsyncGenerator, Callable
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp.client.auth import OAuthClientProvider
from mcp.client.auth.oauth2 import OAuthContext
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
)
from pydantic import AnyUrl, BaseModel

from agent_core.tools.mcp.contract import AccountFiles, AskPerson, McpServer, McpUnavailable
from agent_core.tools.mcp.sign_in import NEEDED
from agent_core.tools.mcp.token_files import read_tokens, write_tokens
from agent_core.tools.mcp.transports.streams import StreamLink
from agent_core.tools.secret_scan import SecretMask
from agent_core.transcript import flatten

REDIRECT = "http://127.0.0.1:33418/signed-in"
"""The page that a person reaches. Nothing listens there: the person passes on its address."""
_LONGEST_LINK = 4000
_MARGIN = 30.0
"""A token counts as expired this many seconds early."""
_LOCK_SECONDS = 30.0
"""Seconds to wait while another session renews the same tokens."""
_LOCK_PAUSE = 0.1


class Tokens:
    """The tokens of one account in a file, with all data for a refresh; see `TokenStorage`.

    They belong to the server's address: a different address under the same name needs a new
    sign-in. The file also holds the registration for which they were issued.
    """

    def __init__(
        self, files: AccountFiles, server: McpServer, context: Callable[[], OAuthContext]
    ) -> None:
        """`context` returns the SDK's data about the sign-in."""
        self._files = files
        self._url = server.url
        self._server = server
        self._context = context

    async def get_tokens(self) -> OAuthToken | None:
        """Return the tokens, and set in the SDK when they expire and where to refresh them."""
        kept = await asyncio.to_thread(self._read)
        if not kept.get("tokens"):
            return None
        context = self._context()
        if kept.get("metadata"):
            context.oauth_metadata = OAuthMetadata.model_validate(kept["metadata"])
        context.token_expiry_time = kept.get("ends_at")
        return OAuthToken.model_validate(kept["tokens"])

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Store new tokens."""
        context = self._context()
        content = {
            "url": self._url,
            "tokens": _dump(tokens),
            "ends_at": time.time() + tokens.expires_in - _MARGIN if tokens.expires_in else None,
            "metadata": _dump(context.oauth_metadata),
            "client": None if make_fixed_client(self._server) else _dump(context.client_info),
        }
        await asyncio.to_thread(write_tokens, self._files.tokens, content)

    async def forget(self) -> None:
        """Forget the tokens, because the server takes them no more."""
        await asyncio.to_thread(self._files.tokens.unlink, missing_ok=True)

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """Return Talaria's registration at the server: that of the tokens, or the newest one."""
        if fixed := make_fixed_client(self._server):
            return fixed
        kept = await asyncio.to_thread(self._read)
        if not kept.get("client"):
            kept = await asyncio.to_thread(self._read_client)
        if not kept.get("client"):
            return None
        return OAuthClientInformationFull.model_validate(kept["client"])

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Store Talaria's registration."""
        content = {"url": self._url, "client": _dump(client_info)}
        await asyncio.to_thread(write_tokens, self._files.client, content)

    def _read(self) -> dict[str, Any]:
        return self._check(read_tokens(self._files.tokens))

    def _read_client(self) -> dict[str, Any]:
        return self._check(read_tokens(self._files.client))

    def _check(self, kept: dict[str, Any]) -> dict[str, Any]:
        return kept if kept.get("url") == self._url else {}


class RefreshLock:
    """Lets one session at a time renew the tokens of an account, in all processes."""

    def __init__(self, files: AccountFiles) -> None:
        self._path = files.tokens.with_suffix(".lock")
        self._handle: int | None = None

    async def take(self) -> None:
        """Wait for the lock; after half a minute, go on without it."""
        self.release()
        handle = await asyncio.to_thread(os.open, self._path, os.O_CREAT | os.O_RDWR, 0o600)
        end = time.monotonic() + _LOCK_SECONDS
        try:
            while time.monotonic() < end:
                try:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    await asyncio.sleep(_LOCK_PAUSE)
                else:
                    self._handle, handle = handle, -1
                    return
        finally:
            if handle >= 0:
                os.close(handle)

    def release(self) -> None:
        """Let the next session go on."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


class ServerAuth(OAuthClientProvider):
    """Signs requests to one server; asks a person only if there is no other way."""

    def __init__(
        self, server: McpServer, files: AccountFiles, ask: AskPerson, link: StreamLink
    ) -> None:
        self._server = server
        self._ask = ask
        self._link = link
        self._lock = RefreshLock(files)
        self._tokens = Tokens(files, server, lambda: self.context)
        self._answer: AuthorizationCodeResult | None = None
        self._is_refused = False
        self._is_renewing = False
        super().__init__(
            server.url,
            OAuthClientMetadata(redirect_uris=[AnyUrl(REDIRECT)], client_name="Talaria"),
            self._tokens,
            self._send_link,
            self._take_answer,
            client_metadata_url=server.client_id if _is_document(server) else None,
        )

    def hide(self, text: str) -> str:
        """Mask the tokens in the server's text."""
        found = self.context.current_tokens
        client = self.context.client_info
        secrets = [
            *((found.access_token, found.refresh_token) if found else ()),
            client.client_secret if client else None,
        ]
        return SecretMask([one for one in secrets if one]).hide(text)

    def close(self) -> None:
        """Let other sessions of the account renew its tokens."""
        self._lock.release()

    async def _auth_flow(
        self, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """Note whether the server refused the access token; see `_perform_authorization`."""
        flow = super()._auth_flow(request)
        self._is_refused = self._is_renewing = False
        try:
            outgoing = await anext(flow)
            while True:
                response = yield outgoing
                if outgoing is request:
                    self._is_refused = response.status_code == HTTPStatus.UNAUTHORIZED
                outgoing = await flow.asend(response)
        except StopAsyncIteration:
            return
        finally:
            self._lock.release()
            await flow.aclose()

    async def _perform_authorization(self) -> httpx2.Request:
        """Ask for new tokens: with the refresh token, and only then by a sign-in.

        A server may end an access token early, such as for another session of the same account.
        """
        if self._is_refused and self.context.can_refresh_token():
            self._is_renewing = True
            return await self._refresh_token()
        return await super()._perform_authorization()

    async def _handle_token_response(self, response: httpx2.Response) -> None:
        if not self._is_renewing:
            await super()._handle_token_response(response)
        elif not await self._handle_refresh_response(response):
            await self._tokens.forget()
            self._link.close(NEEDED)
            raise McpUnavailable(NEEDED)

    async def _refresh_token(self) -> httpx2.Request:
        """Renew with the newest tokens: a server may take an older one for stolen."""
        await self._lock.take()
        kept = await self._tokens.get_tokens()
        if kept and kept.refresh_token:
            self.context.current_tokens = kept
        return await super()._refresh_token()

    async def _handle_refresh_response(self, response: httpx2.Response) -> bool:
        try:
            return await super()._handle_refresh_response(response)
        finally:
            self._lock.release()

    async def _send_link(self, url: str) -> None:
        """Send the person to the server's page. Raises `McpUnavailable`."""
        try:
            parts = urlsplit(url)
            is_safe = parts.scheme == "https" or (self._server.is_local and parts.scheme == "http")
            is_plain = len(url) <= _LONGEST_LINK and url.isascii() and url.isprintable()
            if not (is_safe and is_plain and parts.hostname and "@" not in parts.netloc):
                raise McpUnavailable("offers to sign in on a page without https")
            self._answer = _read_address(await self._ask(url))
        except McpUnavailable as error:
            self._link.close(str(error))
            raise

    async def _take_answer(self) -> AuthorizationCodeResult:
        assert self._answer is not None  # noqa: S101 - the link comes first
        return self._answer


def make_fixed_client(server: McpServer) -> OAuthClientInformationFull | None:
    """Return the client that the owner configured; None if Talaria registers itself."""
    if not server.client_id or _is_document(server):
        return None
    secret = server.client_secret or None
    return OAuthClientInformationFull(
        client_id=server.client_id,
        client_secret=secret,
        token_endpoint_auth_method="client_secret_basic" if secret else "none",
        redirect_uris=[AnyUrl(REDIRECT)],
    )


def _is_document(server: McpServer) -> bool:
    """Return whether the id is the address of a document that describes Talaria to the server."""
    return server.client_id.startswith("https://")


def _read_address(address: str) -> AuthorizationCodeResult:
    """Parse the address that a person reached. Raises `McpUnavailable`."""
    try:
        found = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
    except ValueError:
        found = {}
    if "code" in found:
        return AuthorizationCodeResult(
            code=found["code"], state=found.get("state"), iss=found.get("iss")
        )
    if "error" in found:
        reason = flatten(found.get("error_description") or found["error"], 200)
        raise McpUnavailable(f"did not let you in: {reason}")
    raise McpUnavailable("got an address without a code; sign in again")


def _dump(model: BaseModel | None) -> object:
    return model.model_dump(mode="json", exclude_none=True) if model else None
