"""A server on loopback that can stop and come back at the same address."""

import asyncio
from collections.abc import Callable
from typing import Self, TypeVar

from aiohttp import web

from tests.patience import PATIENCE

T = TypeVar("T")


class LoopbackServer:
    """Serves `application` while it is entered. Port 0 takes a free one, once for all starts."""

    ends_left_requests = False
    """Whether a request is cancelled once its client has left."""

    def __init__(self, *, port: int = 0, host: str = "127.0.0.1") -> None:
        self.port = port
        self.host = host
        self._changed = asyncio.Event()
        self._runner: web.AppRunner | None = None

    def application(self) -> web.Application:
        """Return the routes; called at each start."""
        raise NotImplementedError

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def start(self) -> None:
        """Listen."""
        self._runner = web.AppRunner(
            self.application(),
            access_log=None,
            shutdown_timeout=0.5,
            handler_cancellation=self.ends_left_requests,
        )
        await self._runner.setup()
        await web.TCPSite(self._runner, self.host, self.port, backlog=1024).start()
        self.port = self._runner.addresses[0][1]

    async def stop(self) -> None:
        """Close the port and every connection. `start` opens the same port again."""
        if self._runner is not None:
            await self._runner.cleanup()

    @property
    def url(self) -> str:
        """The address without a path."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"

    async def wait_for(self, predicate: Callable[[], T], timeout: float = PATIENCE) -> T:
        """Return the predicate's value once it is true. Raises `TimeoutError`."""
        async with asyncio.timeout(timeout):
            while not (value := predicate()):
                await self._changed.wait()
        return value

    def _stir(self) -> None:
        """Wake everyone who waits for a change."""
        self._changed.set()
        self._changed = asyncio.Event()
