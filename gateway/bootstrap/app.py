"""The composition root: builds the house, runs it in one TaskGroup, ends it in order."""

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field

import tzlocal

from adapters.contract import ChatAdapter
from agent_core.agent.agent import Agent
from agent_core.agent.compaction.compactor import Compactor
from agent_core.agent.quotas.reservations import Quotas
from agent_core.errors import StoreError
from agent_core.memory.external.client import ExternalMemory
from agent_core.memory.shared import SharedMemory
from agent_core.memory.soul import soul
from agent_core.models.contract import Model
from agent_core.state.conversations import turns
from agent_core.state.engine.database import Connection, Database, Observer
from agent_core.state.people import people
from agent_core.tools.contract import Tool
from gateway.bootstrap import factories, garbage_collection, maintenance, scheduling
from gateway.bootstrap.commands import CommandDeps, make_commands
from gateway.bootstrap.platform_supervisor import Platforms
from gateway.bootstrap.scheduling import Scheduling, SchedulingDeps
from gateway.bootstrap.toolboxes import Stock, make_toolboxes
from gateway.commands.catalog import COMMANDS, HIDDEN
from gateway.commands.registry import make_menu
from gateway.concurrency import FairSemaphore
from gateway.config import Settings
from gateway.config import now as wall_clock
from gateway.errors import Broken, StartError
from gateway.inbound.router import InboundRouter, RouterDeps
from gateway.outbound.composer import CommandFormatter
from gateway.outbound.dispatcher import OutboxDispatcher
from gateway.outbound.questions import Questions
from gateway.people.data_confirmations import DataConfirmations
from gateway.people.data_erase import DataErase
from gateway.people.data_export import DataExport
from gateway.people.data_forget import DataForget
from gateway.people.data_requests import DataRequests, RequestQueue
from gateway.people.identity import LOCAL_PLATFORM, Access, Identity, new_claim_code
from gateway.people.linking import Linking
from gateway.people.merging import AccountMerging
from gateway.people.rooms import Rooms
from gateway.turns.lanes import Lanes
from gateway.turns.runner import TurnRunner
from gateway.turns.user_prompts import UserPrompts

_log = logging.getLogger(__name__)

_POLL = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class Extensions:
    """What the program that starts the house adds to it."""

    tools: tuple[Tool, ...] = ()
    """Tools besides the built-in ones."""
    adapters: Mapping[str, ChatAdapter] = field(default_factory=dict)
    """Platforms besides those that the settings turn on."""
    model: Model | None = None
    """Who thinks, instead of the provider in the settings."""
    observe: Observer | None = None
    """Told of every commit."""
    now: Callable[[], int] = wall_clock
    """The time of day, in milliseconds since the epoch, UTC."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gateway:
    """A running house, as its health page, its control socket and its starter see it."""

    settings: Settings
    database: Database
    memory: SharedMemory
    external_memory: ExternalMemory | None
    """The outside memory, if there is one."""
    platforms: Platforms
    identity: Identity
    router: InboundRouter
    lanes: Lanes
    dispatcher: OutboxDispatcher
    questions: Questions
    user_prompts: UserPrompts
    exports: DataExport
    data_requests: DataRequests
    scheduling: Scheduling
    claim_code: str | None
    """A code to claim the bot with, if no owner has an account on a chat platform yet."""
    started: float
    """Monotonic seconds."""
    now: Callable[[], int]
    """The time of day, in milliseconds since the epoch, UTC."""

    def is_at_rest(self) -> bool:
        """True while nobody waits for anything that is under way here."""
        rooms = (self.router, self.lanes, self.dispatcher, self.scheduling.runs)
        return all(room.is_idle() for room in rooms)

    def waits_for_people(self) -> bool:
        """True while every turn waits for an answer, which the next process can do as well."""
        is_rest_idle = self.router.is_idle() and self.dispatcher.is_idle()
        return is_rest_idle and self.user_prompts.count_turns() == len(self.lanes)


Companion = Callable[[Gateway], Coroutine[object, object, None]]
"""Something that runs beside the house until cancelled: a server, a prompt."""


async def run(
    settings: Settings,
    *,
    stop: asyncio.Event,
    companions: Sequence[Companion] = (),
    extensions: Extensions | None = None,
) -> None:
    """Open the house and serve until `stop` is set, then end it in order.

    Raises `StartError`, `StoreError` if the home can't be used, and `Broken`.
    """
    extra = extensions or Extensions()
    model = extra.model or factories.load_model(settings)
    database = await factories.open_database(settings.home, extra.observe)
    external_memory = None
    try:
        await factories.check_model(model, settings)
        external_memory = await factories.load_outside(settings, database, extra.now)
        house = _build(settings, database, (model, external_memory), extra)
        await _serve(house, stop, companions)
    finally:
        if external_memory:
            await external_memory.close()
        await model.close()
        await database.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parts:
    """What is made before anything runs."""

    settings: Settings
    database: Database
    model: Model
    external_memory: ExternalMemory | None
    memory: SharedMemory
    tools: tuple[Tool, ...]
    platforms: Platforms
    identity: Identity
    zone: str
    ceilings: Quotas
    folding: Compactor
    now: Callable[[], int]


class _AtRest(Exception):
    """Ends the TaskGroup once everything has come to rest."""


def _build(
    settings: Settings,
    database: Database,
    minds: tuple[Model, ExternalMemory | None],
    extra: Extensions,
) -> _Parts:
    model, external_memory = minds
    zone = settings.people.time_zone or tzlocal.get_localzone_name()
    ceilings = factories.make_ceilings(settings, database, zone)
    return _Parts(
        settings=settings,
        database=database,
        model=model,
        external_memory=external_memory,
        memory=factories.make_memory(settings, database),
        tools=extra.tools,
        platforms=Platforms({**factories.load_adapters(settings), **extra.adapters}),
        identity=Identity(database, Access(settings.access.allow), extra.now),
        zone=zone,
        ceilings=ceilings,
        folding=factories.make_folding(settings, database, model, ceilings),
        now=extra.now,
    )


async def _serve(parts: _Parts, stop: asyncio.Event, companions: Sequence[Companion]) -> None:
    fault: BaseException | None = None
    try:
        async with asyncio.TaskGroup() as group:
            gateway = _furnish(group, parts, await _make_claim_code(parts))
            await _recover(gateway)
            garbage_collection.spare_what_stands()
            with closing(gateway.dispatcher):
                _start(group, gateway, parts, companions)
                await _wait_for_end(gateway, stop)
                await _drain(gateway)
            raise _AtRest
    except* _AtRest:
        pass
    except* (StartError, StoreError, Broken) as faults:
        fault = faults.exceptions[0]  # what is raised in here would come out as a group again
    if fault:
        raise fault
    _complain_if_all_stopped(parts.platforms)


def _furnish(group: asyncio.TaskGroup, parts: _Parts, claim_code: str | None) -> Gateway:
    """Put the rooms of the hall together; nothing runs yet."""
    settings, database, adapters = parts.settings, parts.database, parts.platforms.adapters
    now, memory = parts.now, parts.memory.store
    command_formatter = CommandFormatter([*(spec.name for spec in (*COMMANDS, *HIDDEN)), "claim"])
    dispatcher = OutboxDispatcher(
        group=group,
        database=database,
        adapters=adapters,
        now=now,
        command_formatter=command_formatter,
    )
    queue = RequestQueue()
    exports = DataExport(database, settings.home, adapters=adapters, now=now)
    forgetting = DataForget(database, memory, settings.home, now=now)
    merging = AccountMerging(memory)
    questions = _make_questions(parts, dispatcher, merging, queue)
    user_prompts = UserPrompts(
        database=database, dispatcher=dispatcher, questions=questions, now=now
    )
    wakeup = asyncio.Event()
    agent = _make_agent(parts, user_prompts, wakeup)
    timing = scheduling.make_timing(database, dispatcher, agent, zone=parts.zone, wakeup=wakeup)
    running = TurnRunner(
        database=database,
        agent=agent,
        dispatcher=dispatcher,
        user_prompts=user_prompts,
        outcomes=timing.outcomes,
        now=now,
    )
    gate = FairSemaphore(at_once=settings.turns.at_once, per_person=settings.turns.per_person)
    rooms = Rooms(database=database, adapters=adapters, now=now)
    lanes = Lanes(group=group, turns=running, gate=gate, user_prompts=user_prompts, rooms=rooms)
    deps = RouterDeps(
        database=database,
        identity=parts.identity,
        lanes=lanes,
        questions=questions,
        linking=Linking(database=database, questions=questions, merging=merging, now=now),
        rooms=rooms,
        attachments=maintenance.make_unpacking(group, settings, database, lanes, dispatcher, now),
        zone_of=running.zone_of,
        wake_jobs=wakeup.set,
    )
    commands = make_commands(
        deps,
        CommandDeps(
            settings=settings,
            memory=parts.memory,
            external=parts.external_memory,
            compactor=parts.folding,
            quotas=parts.ceilings,
            exports=exports,
            forgetting=forgetting,
            platforms=adapters.keys(),
        ),
    )
    router = InboundRouter(
        group=group, deps=deps, commands=commands, dispatcher=dispatcher, adapters=adapters, now=now
    )

    def renew() -> None:
        router.forget_known()
        running.forget_words()

    data_requests = DataRequests(
        queue,
        forgetting,
        DataErase(database, memory, settings.home, now=now, renew=renew),
        database=database,
        enqueue=dispatcher.enqueue,
        now=now,
    )
    return Gateway(
        settings=settings,
        database=database,
        memory=parts.memory,
        external_memory=parts.external_memory,
        platforms=parts.platforms,
        identity=parts.identity,
        router=router,
        lanes=lanes,
        dispatcher=dispatcher,
        questions=questions,
        user_prompts=user_prompts,
        exports=exports,
        data_requests=data_requests,
        scheduling=scheduling.make_timekeeper(
            group,
            settings,
            timing,
            SchedulingDeps(
                database=database,
                lanes=lanes,
                dispatcher=dispatcher,
                external=parts.external_memory,
                renew=renew,
            ),
            now,
        ),
        claim_code=claim_code,
        started=time.monotonic(),
        now=now,
    )


def _make_questions(
    parts: _Parts,
    dispatcher: OutboxDispatcher,
    merging: AccountMerging,
    queue: RequestQueue,
) -> Questions:
    return Questions(
        database=parts.database,
        dispatcher=dispatcher,
        zone=parts.zone,
        now=parts.now,
        answerers={**merging.answerers(), **DataConfirmations(queue).answerers()},
    )


def _make_agent(parts: _Parts, user_prompts: UserPrompts, wakeup: asyncio.Event) -> Agent:
    stock = Stock(
        settings=parts.settings,
        database=parts.database,
        memory=parts.memory,
        user_prompts=user_prompts,
        external_memory=parts.external_memory,
        zone=parts.zone,
        forget_people=parts.identity.forget_known,
        wake_jobs=wakeup.set,
    )
    return Agent(
        config=factories.set_up_agent(
            parts.settings, parts.ceilings, parts.folding, parts.external_memory
        ),
        database=parts.database,
        model=parts.model,
        toolboxes=make_toolboxes(stock, parts.tools),
        memory=parts.memory,
        now=parts.now,
    )


def _start(
    group: asyncio.TaskGroup,
    gateway: Gateway,
    parts: _Parts,
    companions: Sequence[Companion],
) -> None:
    menu = make_menu(COMMANDS)
    for name in gateway.platforms.adapters:
        group.create_task(gateway.platforms.keep(name, gateway.router.inlet(name)))
        group.create_task(gateway.platforms.show_menu(name, menu))
    background = maintenance.make_background(
        parts.settings,
        parts.database,
        parts.model,
        parts.memory.store,
        parts.ceilings,
        gateway.dispatcher,
    )
    group.create_task(background.run())
    if parts.external_memory:
        group.create_task(parts.external_memory.run())
    group.create_task(gateway.scheduling.scheduler.run())
    maintenance.begin(
        group,
        parts.database,
        gateway.data_requests,
        parts.memory.store,
        gateway.is_at_rest,
    )
    for companion in companions:
        group.create_task(companion(gateway))


async def _recover(gateway: Gateway) -> None:
    """Take up what an earlier process left: what is owed first, then turns, then events."""
    await soul.SoulFile(gateway.database, gateway.settings.home).notice(gateway.now())
    await gateway.questions.start()
    await gateway.dispatcher.start()
    for turn in await gateway.database.read(turns.list_running):
        gateway.lanes.take_up(turn)
    await gateway.router.recover()
    await gateway.scheduling.prepare()


async def _wait_for_end(gateway: Gateway, stop: asyncio.Event) -> None:
    """Return when asked to stop, or when no chat platform is left that could work.

    Raises `Broken` when the disk failed: only a restart can tell what was written.
    """
    while not stop.is_set():
        if _all_stopped(gateway.platforms):
            return
        if gateway.database.has_stopped():
            raise Broken(gateway.database.failure())
        with suppress(TimeoutError):
            async with asyncio.timeout(1.0):
                await stop.wait()


async def _drain(gateway: Gateway) -> None:
    """Take nothing more in, let turns reach a step boundary and deliver what is owed.

    What is not done within the grace time stands in the database for the next start.
    """
    gateway.router.close()
    gateway.scheduling.runs.close()
    gateway.lanes.drain()
    with suppress(TimeoutError):
        async with asyncio.timeout(gateway.settings.turns.drain_seconds):
            while not gateway.is_at_rest():  # noqa: ASYNC110 - three rooms, each in its own time
                await asyncio.sleep(_POLL)


async def _make_claim_code(parts: _Parts) -> str | None:
    """A claim code, if there is a chat platform and no owner on it yet. Raises `StoreError`."""
    if len(parts.platforms.adapters) == 1:
        return None

    def work(connection: Connection) -> str | None:
        if people.has_platform_owner(connection, local_platform=LOCAL_PLATFORM):
            return None
        return new_claim_code(connection, now=parts.now())

    return await parts.database.write("people.code", work)


def _all_stopped(platforms: Platforms) -> bool:
    """True if there are chat platforms besides the console and none of them can work."""
    chat = [name for name in platforms.adapters if name != LOCAL_PLATFORM]
    return bool(chat) and all(name in platforms.stopped() for name in chat)


def _complain_if_all_stopped(platforms: Platforms) -> None:
    if _all_stopped(platforms):
        raise StartError("\n".join(platforms.stopped().values()))
