"""A server behind OAuth on this machine: it registers, signs in, renews and revokes tokens.

Each account of it has mails of its own.
"""

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import httpx2
from aiohttp import web

SCHEMA = {"type": "object"}
TOOL = {"name": "whoami", "description": "Show the token.", "inputSchema": SCHEMA}
INBOX = {"name": "inbox", "description": "Read the newest mail.", "inputSchema": SCHEMA}
NOBODY = "nobody"


@dataclass
class OAuthServer:
    """What it gave, and to how many."""

    url: str = ""
    lasts: int = 3600
    """Seconds of a token."""
    resource: str = ""
    """The address of its description if that is elsewhere."""
    issuer: str = ""
    """The address of the server that signs in if that is another one."""
    codes: dict[str, str] = field(default_factory=dict)
    """The account that each code is for."""
    tokens: dict[str, str] = field(default_factory=dict)
    """The account that each access token opens."""
    renewals: dict[str, str] = field(default_factory=dict)
    is_closed: bool = False
    """True if it registers no program by itself."""
    is_personal: bool = False
    """True if the description of a tool names the account."""
    revokes: bool = True
    registered: int = 0
    renewed: int = 0
    read: list[str] = field(default_factory=list)
    """The accounts whose mail was read."""
    revoked: list[str] = field(default_factory=list)
    """The kind of each token that was revoked."""

    def make_app(self) -> web.Application:
        app = web.Application()
        app.router.add_get("/.well-known/oauth-protected-resource/mcp", self.describe_resource)
        app.router.add_get("/.well-known/oauth-authorization-server", self.describe)
        app.router.add_post("/apps", self.register)
        app.router.add_get("/door", self.authorize)
        app.router.add_post("/keys", self.give)
        app.router.add_post("/end", self.revoke)
        app.router.add_post("/mcp", self.answer)
        return app

    async def describe_resource(self, _: web.Request) -> web.Response:
        return web.json_response(
            {"resource": f"{self.url}/mcp", "authorization_servers": [self.issuer or self.url]}
        )

    async def describe(self, _: web.Request) -> web.Response:
        revokes = {"revocation_endpoint": f"{self.url}/end"} if self.revokes else {}
        return web.json_response(
            {
                "issuer": self.url,
                "authorization_endpoint": f"{self.url}/door",
                "token_endpoint": f"{self.url}/keys",
                "registration_endpoint": f"{self.url}/apps",
                "response_types_supported": ["code"],
                "code_challenge_methods_supported": ["S256"],
                **revokes,
            }
        )

    async def register(self, request: web.Request) -> web.Response:
        if self.is_closed:
            return web.json_response({"error": "invalid_client_metadata"}, status=400)
        self.registered += 1
        given = await request.json()
        return web.json_response({**given, "client_id": f"talaria-{self.registered}"}, status=201)

    async def authorize(self, request: web.Request) -> web.Response:
        """Sign in the account that the browser names in its cookie."""
        code = secrets.token_urlsafe(8)
        self.codes[code] = request.cookies.get("account", NOBODY)
        words = urlencode({"code": code, "state": request.query["state"]})
        raise web.HTTPFound(f"{request.query['redirect_uri']}?{words}")

    async def give(self, request: web.Request) -> web.Response:
        form = await request.post()
        if form["grant_type"] == "authorization_code":
            assert form["code_verifier"]
            account = self.codes.pop(str(form["code"]))
            self.tokens = {one: whose for one, whose in self.tokens.items() if whose != account}
        else:
            found = self.renewals.pop(str(form["refresh_token"]), None)
            if found is None:
                return web.json_response({"error": "invalid_grant"}, status=400)
            account = found
            self.renewed += 1
        token, renewal = (secrets.token_urlsafe(24) for _ in range(2))
        self.tokens[token] = account
        self.renewals[renewal] = account
        given = {"access_token": token, "refresh_token": renewal, "expires_in": self.lasts}
        return web.json_response({**given, "token_type": "Bearer"})

    async def revoke(self, request: web.Request) -> web.Response:
        form = await request.post()
        self.tokens.pop(str(form["token"]), None)
        self.renewals.pop(str(form["token"]), None)
        self.revoked.append(str(form["token_type_hint"]))
        return web.Response()

    async def answer(self, request: web.Request) -> web.Response:
        _, _, token = request.headers.get("Authorization", "").partition(" ")
        if token not in self.tokens:
            where = self.resource or f"{self.url}/.well-known/oauth-protected-resource/mcp"
            headers = {"WWW-Authenticate": f'Bearer resource_metadata="{where}"'}
            return web.Response(status=401, headers=headers)
        asked = await request.json()
        if "id" not in asked:
            return web.Response(status=202)
        if asked.get("params", {}).get("name") == "garble":
            return web.Response(text="{", content_type="application/json")
        found = self.find_result(asked, token)
        what = {"result": found} if found else {"error": {"code": -32601, "message": "unknown"}}
        return web.json_response({"jsonrpc": "2.0", "id": asked["id"], **what})

    def find_result(self, asked: dict[str, Any], token: str) -> dict[str, Any] | None:
        account = self.tokens[token]
        match asked["method"]:
            case "initialize":
                return {
                    "protocolVersion": "2025-06-18",
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "oauth", "version": "1"},
                }
            case "tools/list":
                told = f"Read the mail of {account}." if self.is_personal else INBOX["description"]
                return {"tools": [TOOL, {**INBOX, "description": told}]}
            case "tools/call" if asked["params"]["name"] == "inbox":
                self.read.append(account)
                return {"content": [{"type": "text", "text": f"a mail to {account}"}]}
            case "tools/call":
                return {"content": [{"type": "text", "text": f"your token is {token}"}]}
        return None


@asynccontextmanager
async def serve(lasts: int = 3600) -> AsyncIterator[OAuthServer]:
    server = OAuthServer(lasts=lasts)
    runner = web.AppRunner(server.make_app())
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        server.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        yield server
    finally:
        await runner.cleanup()


async def sign_in(link: str, account: str = NOBODY) -> str:
    """Open a link in the browser of an account; return the address that it reaches."""
    async with httpx2.AsyncClient(cookies={"account": account}) as browser:
        return (await browser.get(link)).headers["location"]
