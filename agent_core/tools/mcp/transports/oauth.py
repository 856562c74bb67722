"""Sign in at servers by OAuth. Tokens stay in a file of the owner; all texts hide them."""

import asyncio
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

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

from agent_core.tools.mcp.contract import AskOwner, McpServer, McpUnavailable
from agent_core.tools.mcp.transports.streams import Link
from agent_core.tools.secret_scan import SecretMask
from agent_core.transcript import flatten

REDIRECT = "http://127.0.0.1:33418/signed-in"
"""The page that an owner reaches. Nothing listens there: the owner passes on its address."""
_LONGEST_LINK = 4000
_MARGIN = 30.0
"""A token counts as expired this many seconds early."""


class Tokens:
    """The tokens of one server in a file, with all data for a refresh; see `TokenStorage`.

    They belong to the server's address: a different address under the same name needs a new
    sign-in.
    """

    def __init__(self, path: Path, server: McpServer, context: Callable[[], OAuthContext]) -> None:
        """`context` returns the SDK's data about the sign-in."""
        self._path = path
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
        ends_at = time.time() + tokens.expires_in - _MARGIN if tokens.expires_in else None
        metadata = self._context().oauth_metadata
        await self._change(tokens=_dump(tokens), ends_at=ends_at, metadata=_dump(metadata))

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """Return Talaria's registration at the server."""
        if self._server.client_id and not _is_document(self._server):
            secret = self._server.client_secret or None
            return OAuthClientInformationFull(
                client_id=self._server.client_id,
                client_secret=secret,
                token_endpoint_auth_method="client_secret_basic" if secret else "none",
                redirect_uris=[AnyUrl(REDIRECT)],
            )
        kept = await asyncio.to_thread(self._read)
        if not kept.get("client"):
            return None
        return OAuthClientInformationFull.model_validate(kept["client"])

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Store Talaria's registration."""
        await self._change(client=_dump(client_info))

    async def _change(self, **values: object) -> None:
        def work() -> None:
            text = json.dumps({**self._read(), "url": self._url, **values})
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            draft = self._path.with_suffix(".part")
            draft.unlink(missing_ok=True)
            draft.touch(mode=0o600)
            draft.write_text(text)
            draft.replace(self._path)

        await asyncio.to_thread(work)

    def _read(self) -> dict[str, Any]:
        try:
            kept = json.loads(self._path.read_text())
        except (FileNotFoundError, ValueError):  # a damaged file is replaced
            return {}
        return kept if isinstance(kept, dict) and kept.get("url") == self._url else {}


class ServerAuth(OAuthClientProvider):
    """Signs requests to one server; asks an owner only if there is no other way."""

    def __init__(self, server: McpServer, path: Path, ask: AskOwner, link: Link) -> None:
        self._server = server
        self._ask = ask
        self._link = link
        self._answer: AuthorizationCodeResult | None = None
        super().__init__(
            server.url,
            OAuthClientMetadata(redirect_uris=[AnyUrl(REDIRECT)], client_name="Talaria"),
            Tokens(path, server, lambda: self.context),
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

    async def _send_link(self, url: str) -> None:
        """Send the owner to the server's page. Raises `McpUnavailable`."""
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


def _is_document(server: McpServer) -> bool:
    """Return whether the id is the address of a document that describes Talaria to the server."""
    return server.client_id.startswith("https://")


def _read_address(address: str) -> AuthorizationCodeResult:
    """Parse the address that an owner reached. Raises `McpUnavailable`."""
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
