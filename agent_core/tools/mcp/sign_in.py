"""The sign-in at a server: a link for an owner, and the address that the owner reaches."""

import asyncio
from typing import Literal

from agent_core.tools.mcp.contract import McpUnavailable

NEEDED = "needs an owner to sign in; `/mcp login NAME` in a chat gives a link"
_PATIENCE = 900.0
"""Seconds in which an owner can use the link."""
_LINK_SECONDS = 15.0


SignInFault = Literal["unknown", "not_configured", "connected", "not_offered"]


class SignInUnavailable(McpUnavailable):
    """The server gives no link to sign in; `fault` says why."""

    def __init__(self, message: str, fault: SignInFault) -> None:
        """Keep the fault beside the text."""
        super().__init__(message)
        self.fault: SignInFault = fault


class SignIn:
    """The sign-in of one owner at a time; a new link ends the earlier one."""

    def __init__(self) -> None:
        self._link: asyncio.Future[str] | None = None
        self._address: asyncio.Future[str] | None = None

    async def begin(self) -> str:
        """Return the link, which the next attempt to connect makes. Raises `SignInUnavailable`."""
        if self._address and not self._address.done():
            self._address.cancel()
        link: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._link = link
        try:
            async with asyncio.timeout(_LINK_SECONDS):
                return await link
        except TimeoutError as error:
            raise SignInUnavailable("did not offer to sign in", "not_offered") from error

    def finish(self, address: str) -> bool:
        """Pass on the address that the owner reached; False if no link waits for it."""
        if self._address is None or self._address.done():
            return False
        self._address.set_result(address)
        return True

    async def ask(self, link: str) -> str:
        """Give the link to the owner who asked for it, and wait for the address.

        Raises `McpUnavailable` if no owner asked for a link, or if nobody signs in.
        """
        wanted, self._link = self._link, None
        if wanted is None or wanted.done():
            raise McpUnavailable(NEEDED)
        address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._address = address
        wanted.set_result(link)
        try:
            async with asyncio.timeout(_PATIENCE):
                await asyncio.wait((address,))
        except TimeoutError as error:
            raise McpUnavailable("waited for an owner to sign in, and nobody did") from error
        finally:
            self._address = None
        if address.cancelled():
            raise McpUnavailable("waited for an owner, who asked for a new link")
        return address.result()


async def decline_sign_in(link: str) -> str:
    """Take no part in a sign-in. Raises `McpUnavailable`."""
    raise McpUnavailable(NEEDED)
