"""The sign-in at a server: a link for one person, and the address that this person reaches."""

import asyncio
from typing import Literal
from urllib.parse import parse_qs, urlsplit

from agent_core.tools.mcp.contract import McpUnavailable

NEEDED = "needs a sign-in; /connections in a direct chat gives a link"
PATIENCE = 900.0
"""Seconds in which a person can use a link."""

SignInFault = Literal[
    "unknown", "not_configured", "owners_only", "connected", "not_offered", "busy"
]
Taken = Literal["taken", "foreign", "none"]
"""What became of an address: it was passed on, belongs to another link, or no link waits."""


class SignInUnavailable(McpUnavailable):
    """The server gives no link to sign in; `fault` says why."""

    def __init__(self, message: str, fault: SignInFault) -> None:
        """Keep the fault beside the text."""
        super().__init__(message)
        self.fault: SignInFault = fault


class SignIn:
    """The sign-in of one account. Each link is good once, and a new link ends the earlier one.

    The `state` in the link ties the address to it: with somebody else's address, nobody can put
    their account in the place of this one.
    """

    def __init__(self) -> None:
        self._link: asyncio.Future[str] | None = None
        self._address: asyncio.Future[str] | None = None
        self._state = ""

    @property
    def is_open(self) -> bool:
        """True while a link waits for its address."""
        return self._address is not None and not self._address.done()

    def request(self) -> asyncio.Future[str]:
        """Return a future of the link, which the next attempt to connect makes."""
        if self._address and not self._address.done():
            self._address.cancel()
        self._link = asyncio.get_running_loop().create_future()
        return self._link

    def finish(self, address: str) -> Taken:
        """Pass on the address that the person reached, if it belongs to the link."""
        if self._address is None or self._address.done():
            return "none"
        if not self._state or read_state(address) != self._state:
            return "foreign"
        self._address.set_result(address)
        return "taken"

    async def ask(self, link: str) -> str:
        """Give the link to the person who asked for it, and wait for the address.

        Raises `McpUnavailable` if nobody asked for a link, or if nobody signs in.
        """
        wanted, self._link = self._link, None
        if wanted is None or wanted.done():
            raise McpUnavailable(NEEDED)
        address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._address, self._state = address, read_state(link)
        wanted.set_result(link)
        try:
            async with asyncio.timeout(PATIENCE):
                await asyncio.wait((address,))
        except TimeoutError as error:
            raise McpUnavailable("waited for a sign-in, and nobody signed in") from error
        finally:
            self._address = None
        if address.cancelled():
            raise McpUnavailable("waited for a sign-in, and a new link was asked for")
        return address.result()


async def decline_sign_in(link: str) -> str:
    """Take no part in a sign-in. Raises `McpUnavailable`."""
    raise McpUnavailable(NEEDED)


def read_state(address: str) -> str:
    """Return the `state` of a link or an address; "" if it has none."""
    try:
        return parse_qs(urlsplit(address).query).get("state", [""])[0]
    except ValueError:
        return ""
