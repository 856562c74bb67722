"""Revoke tokens at the server that issued them (RFC 7009), before they are deleted."""

import asyncio
import logging
from base64 import b64encode
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import httpx2
from mcp.shared.auth import OAuthClientInformationFull, OAuthMetadata, OAuthToken
from pydantic import ValidationError

from agent_core.tools.mcp.contract import McpServer
from agent_core.tools.mcp.transports.http import make_client
from agent_core.tools.mcp.transports.oauth import make_fixed_client

_TIMEOUT = httpx2.Timeout(5.0)
_SECONDS = 15.0
_BASIC = "client_secret_basic"
_log = logging.getLogger(__name__)


async def revoke(server: McpServer, content: Mapping[str, Any]) -> None:
    """Revoke the tokens of a file, if their server says where. A failure is only logged.

    Takes a quarter of a minute at most.
    """
    try:
        tokens = OAuthToken.model_validate(content.get("tokens"))
        metadata = OAuthMetadata.model_validate(content.get("metadata"))
        known = content.get("client")
        client = OAuthClientInformationFull.model_validate(known) if known else None
    except ValidationError:
        return
    client = client or make_fixed_client(server)
    endpoint = str(metadata.revocation_endpoint or "")
    schemes = ("https://", "http://") if server.is_local else ("https://",)
    if client is None or not endpoint.startswith(schemes):
        return
    # The refresh token first: with it, most servers end the access token, too.
    given = {"refresh_token": tokens.refresh_token, "access_token": tokens.access_token}
    try:
        async with asyncio.timeout(_SECONDS), make_client(server, _TIMEOUT) as http:
            for kind, token in given.items():
                if token:
                    await _post(http, endpoint, client, {"token": token, "token_type_hint": kind})
    except (httpx2.HTTPError, httpx2.InvalidURL, TimeoutError, OSError) as error:
        kind = type(error).__name__
        _log.warning("MCP server %s: tokens are deleted, but not revoked: %s", server.name, kind)


async def _post(
    http: httpx2.AsyncClient,
    endpoint: str,
    client: OAuthClientInformationFull,
    form: Mapping[str, str],
) -> None:
    """Send a request with the client's own credentials, as for a token (RFC 6749, 2.3.1)."""
    identity, secret = client.client_id or "", client.client_secret
    told, headers = {"client_id": identity}, {}
    if secret and client.token_endpoint_auth_method == _BASIC:
        pair = f"{quote(identity, safe='')}:{quote(secret, safe='')}"
        headers["Authorization"] = f"Basic {b64encode(pair.encode()).decode()}"
    elif secret:
        told["client_secret"] = secret
    await http.post(endpoint, data={**form, **told}, headers=headers)
