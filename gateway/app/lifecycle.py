"""The life of a running gateway: recover, start, wait, drain."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass

from agent_core.agent.caches import IdAllocator
from agent_core.agent.named.folder import AgentFolder
from agent_core.agent.quotas.reservations import Quotas
from agent_core.errors import StoreError
from agent_core.memory.external.client import ExternalMemory
from agent_core.memory.shared import SharedMemory
from agent_core.memory.soul_store import SoulFile
from agent_core.state.engine.database import Database
from agent_core.state.people.people import Person
from gateway.app import garbage_collection
from gateway.app.platform_supervisor import Platforms
from gateway.app.scheduling import Scheduling
from gateway.app.settings import Settings
from gateway.commands.catalog import make_menu
from gateway.errors import Broken, StartError
from gateway.fairness import Signal
from gateway.inbound.router import InboundRouter
from gateway.jobs.events import EventJobs
from gateway.outbound.dispatcher import OutboxDispatcher
from gateway.outbound.questions import Questions
from gateway.outbound.webhooks.dispatcher import WebhookDispatcher
from gateway.people.admission import UNATTENDED
from gateway.people.data_export import DataExport
from gateway.people.data_requests import DataRequests
from gateway.people.identity import Identity
from gateway.people.merging import AccountMerging
from gateway.people.rooms import Rooms
from gateway.turns.client_calls import ClientCalls
from gateway.turns.lanes import Lanes
from gateway.turns.user_prompts import UserPrompts

_POLL = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class Gateway:
    """A running gateway, for its health page, its control socket and the code that starts it."""

    settings: Settings
    database: Database
    memory: SharedMemory
    external_memory: ExternalMemory | None
    platforms: Platforms
    identity: Identity
    rooms: Rooms
    router: InboundRouter
    lanes: Lanes
    dispatcher: OutboxDispatcher
    questions: Questions
    user_prompts: UserPrompts
    exports: DataExport
    data_requests: DataRequests
    scheduling: Scheduling
    event_jobs: EventJobs
    load_ids: Callable[[], Awaitable[IdAllocator]]
    """Returns the allocator of ids for turns and sessions. Raises `StoreError`."""
    client_calls: ClientCalls
    agents: AgentFolder
    quotas: Quotas
    merging: AccountMerging
    webhooks: WebhookDispatcher
    background: Sequence[Callable[[], Coroutine[object, object, None]]]
    """Long-lived work besides platforms and the scheduler; each runs until cancelled."""
    ready: Signal[None]
    """Emitted once, after the start: what was left out of it for speed may load now."""
    claim_code: str | None
    """A code to claim the bot with, if no owner has an account on a chat platform yet."""
    started: float
    """Monotonic seconds."""
    zone_of: Callable[[Person | None], str]
    """Returns the IANA time zone of a person, or the deployment's."""
    now: Callable[[], int]
    """The time of day, in milliseconds since the epoch, UTC."""

    def is_at_rest(self) -> bool:
        """Return whether the gateway is idle: no event, turn, message or job run is in progress.

        Neither does the scheduler look for due work, which may begin some.
        """
        jobs = (self.scheduling.scheduler, self.scheduling.runs)
        services = (self.router, *jobs, self.lanes, self.dispatcher)
        return all(service.is_idle() for service in services)

    def waits_for_people(self) -> bool:
        """Return whether every running turn waits for a person's answer, and nothing else is busy.

        These turns don't need this process: the next one can wait for the answers, too.
        """
        is_rest_idle = self.router.is_idle() and self.dispatcher.is_idle()
        return is_rest_idle and self.questions.answers.count_turns() == len(self.lanes)


Companion = Callable[[Gateway], Coroutine[object, object, None]]
"""Runs beside the gateway until cancelled, such as a server or a prompt."""


class _AtRest(Exception):
    """Raised to end the TaskGroup once all work is done."""


async def serve(
    build: Callable[[asyncio.TaskGroup], Gateway],
    *,
    stop: asyncio.Event,
    companions: Sequence[Companion],
) -> None:
    """Build a gateway and run it until `stop` is set.

    Raises `StartError`, `StoreError` and `Broken`.
    """
    error: BaseException | None = None
    try:
        async with asyncio.TaskGroup() as group:
            gateway = build(group)
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
    await gateway.scheduling.prepare()


def _start(group: asyncio.TaskGroup, gateway: Gateway, companions: Sequence[Companion]) -> None:
    menu = make_menu()
    for name in gateway.platforms.adapters:
        group.create_task(gateway.platforms.keep(name, gateway.router.inlet(name)))
        group.create_task(gateway.platforms.show_menu(name, menu))
    group.create_task(gateway.scheduling.scheduler.run())
    group.create_task(gateway.scheduling.event_sources.watch_folders())
    group.create_task(gateway.scheduling.event_sources.watch_feeds())
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
    gateway.scheduling.runs.close()
    gateway.lanes.drain()
    with suppress(TimeoutError):
        async with asyncio.timeout(gateway.settings.turns.drain_seconds):
            while not gateway.is_at_rest():  # noqa: ASYNC110 - five services, no common signal
                await asyncio.sleep(_POLL)


def _have_all_stopped(platforms: Platforms) -> bool:
    """Return whether there are chat platforms besides the console, and all of them have stopped."""
    chat = [name for name in platforms.adapters if name not in UNATTENDED]
    return bool(chat) and all(name in platforms.stopped() for name in chat)
