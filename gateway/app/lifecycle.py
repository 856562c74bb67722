"""The life of a running gateway: recover, start, wait, drain."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextlib import closing, suppress

from agent_core.errors import StoreError
from agent_core.memory.soul_store import SoulFile
from gateway.app import garbage_collection
from gateway.app.gateway import Gateway
from gateway.app.platform_supervisor import Platforms
from gateway.commands.catalog import make_menu
from gateway.errors import Broken, StartError
from gateway.people.admission import UNATTENDED

_POLL = 0.02


Companion = Callable[[Gateway], Coroutine[object, object, None]]
"""Runs beside the gateway until cancelled, such as a server or a prompt."""


class _AtRest(Exception):
    """Raised to end the TaskGroup once all work is done."""


async def serve(
    gateway: Gateway,
    *,
    stop: asyncio.Event,
    companions: Sequence[Companion],
) -> None:
    """Run a built gateway until `stop` is set.

    Raises `StartError`, `StoreError` and `Broken`.
    """
    error: BaseException | None = None
    try:
        async with gateway.group as group:
            await _recover(gateway)
            garbage_collection.freeze_all()
            with closing(gateway.dispatcher):
                _start(group, gateway, companions)
                await _wait_for_end(gateway, stop)
                await _drain(gateway)
            raise _AtRest
    except* _AtRest:
        pass
    except* (StartError, StoreError, Broken) as errors:
        error = errors.exceptions[0]  # raised in this block, it would be wrapped in a group again
    if error:
        raise error
    await gateway.quotas.write_broken()
    if _have_all_stopped(gateway.platforms):
        raise StartError("\n".join(gateway.platforms.stopped().values()))


async def _recover(gateway: Gateway) -> None:
    """Continue the work of an earlier process: messages to send, then turns, then events."""
    await SoulFile(gateway.database, gateway.settings.home).notice(gateway.now())
    await gateway.rooms.end_restored()
    await gateway.questions.start()
    await gateway.dispatcher.start()
    await gateway.lanes.recover()
    await gateway.router.recover()
    await gateway.prepare_jobs()


def _start(group: asyncio.TaskGroup, gateway: Gateway, companions: Sequence[Companion]) -> None:
    menu = make_menu()
    for name in gateway.platforms.adapters:
        group.create_task(gateway.platforms.keep(name, gateway.router.inlet(name)))
        group.create_task(gateway.platforms.show_menu(name, menu))
    group.create_task(gateway.scheduler.run())
    group.create_task(gateway.event_sources.watch_folders())
    group.create_task(gateway.event_sources.watch_feeds())
    group.create_task(garbage_collection.collect(gateway.is_at_rest))
    group.create_task(gateway.data_requests.keep_clean(gateway.is_at_rest))
    for run in gateway.background:
        group.create_task(run())
    for companion in companions:
        group.create_task(companion(gateway))


async def _wait_for_end(gateway: Gateway, stop: asyncio.Event) -> None:
    """Return when `stop` is set, or when no chat platform can work any more.

    Raises `Broken` if the disk failed: only a restart can find out what was written.
    """
    while not stop.is_set():
        if _have_all_stopped(gateway.platforms):
            return
        if gateway.database.has_stopped():
            raise Broken(gateway.database.failure())
        with suppress(TimeoutError):
            async with asyncio.timeout(1.0):
                await stop.wait()


async def _drain(gateway: Gateway) -> None:
    """Accept nothing new, let turns reach a step boundary, and deliver their messages.

    The next start continues whatever is unfinished after the grace time.
    """
    gateway.router.close()
    gateway.job_runs.close()
    gateway.lanes.drain()
    with suppress(TimeoutError):
        async with asyncio.timeout(gateway.settings.turns.drain_seconds):
            while not gateway.is_at_rest():  # noqa: ASYNC110 - five services, no common signal
                await asyncio.sleep(_POLL)


def _have_all_stopped(platforms: Platforms) -> bool:
    """Return whether there are chat platforms besides the console, and all of them have stopped."""
    chat = [name for name in platforms.adapters if name not in UNATTENDED]
    return bool(chat) and all(name in platforms.stopped() for name in chat)
