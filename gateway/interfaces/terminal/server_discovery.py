"""Finds the gateway of a home directory, or starts one for the duration of a chat."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeVar

from agent_core.errors import StoreBusy
from gateway.app import build as app
from gateway.app.gateway import Gateway
from gateway.app.settings import Settings
from gateway.errors import StartError
from gateway.home import CONSOLE_SOCKET
from gateway.interfaces.http.control import serving_control

TerminalChat = Callable[[bool], Awaitable[int]]
"""A chat; its argument says whether the gateway was started for it. Returns the exit code."""

T = TypeVar("T")

_STARTING = 15.0
"""Seconds to wait until a gateway that another process has started opens its socket."""
_POLL = 0.05


async def chat_with_gateway(settings: Settings, chat: TerminalChat) -> int:
    """Chat with the running gateway; if there is none, start one and stop it after the chat.

    Raises `StartError` and `StoreError` if none can be started.
    """
    if await _is_open(settings):
        return await chat(False)
    try:
        return await _open_and_chat(settings, chat)
    except StoreBusy:
        try:
            async with asyncio.timeout(_STARTING):
                await _wait_until_open(settings)
        except TimeoutError:
            pass
        else:
            return await chat(False)
        raise


async def _open_and_chat(settings: Settings, chat: TerminalChat) -> int:
    stop = asyncio.Event()
    serving = asyncio.create_task(
        app.run(settings, stop=stop, companions=(partial(_serve_control, stop),))
    )
    try:
        await _unless_it_ends(serving, _wait_until_open(settings))
        return await _unless_it_ends(serving, chat(True))
    finally:
        stop.set()
        await serving


async def _unless_it_ends(serving: asyncio.Task[None], work: Awaitable[T]) -> T:
    """Await some work; if the gateway ends first, raise the gateway's error."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait({serving, task}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            serving.result()
            raise StartError("The gateway was stopped.")
        return task.result()
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _serve_control(stop: asyncio.Event, gateway: Gateway) -> None:
    async with serving_control(gateway, stop):
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
