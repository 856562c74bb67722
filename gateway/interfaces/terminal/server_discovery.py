"""Finds the gateway of a home directory, or starts one for the time of a chat."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from agent_core.errors import StoreBusy
from gateway.bootstrap import app
from gateway.bootstrap.lifecycle import Gateway
from gateway.config import CONSOLE_SOCKET, Settings
from gateway.errors import StartError
from gateway.interfaces.http.server import serving_control

Talk = Callable[[bool], Awaitable[int]]
"""A chat; its argument is whether the gateway was started for it. Returns the exit code."""

T = TypeVar("T")

_STARTING = 15.0
"""Seconds that a gateway started by another process has to open its socket."""
_POLL = 0.05


async def chat_with_gateway(settings: Settings, talk: Talk) -> int:
    """Chat with the running gateway, or start one and stop it after the chat.

    Raises `StartError` and `StoreError` if none can be started.
    """
    if await _is_open(settings):
        return await talk(False)
    try:
        return await _open_and_talk(settings, talk)
    except StoreBusy:
        try:
            async with asyncio.timeout(_STARTING):
                await _wait_until_open(settings)
        except TimeoutError:
            pass
        else:
            return await talk(False)
        raise


async def _open_and_talk(settings: Settings, talk: Talk) -> int:
    stop = asyncio.Event()
    house = asyncio.create_task(app.run(settings, stop=stop, companions=(_serve_control,)))
    try:
        await _unless_it_ends(house, _wait_until_open(settings))
        return await _unless_it_ends(house, talk(True))
    finally:
        stop.set()
        await house


async def _unless_it_ends(house: asyncio.Task[None], work: Awaitable[T]) -> T:
    """Do some work; if the gateway ends meanwhile, raise its error."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait({house, task}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            house.result()
            raise StartError("The gateway was stopped.")
        return task.result()
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _serve_control(gateway: Gateway) -> None:
    async with serving_control(gateway):
        await asyncio.Event().wait()


async def _wait_until_open(settings: Settings) -> None:
    while not await _is_open(settings):  # noqa: ASYNC110 - it may be another process's socket
        await asyncio.sleep(_POLL)


async def _is_open(settings: Settings) -> bool:
    try:
        _, writer = await asyncio.open_unix_connection(str(settings.home / CONSOLE_SOCKET))
    except OSError:
        return False
    writer.close()
    return True
