"""The composition root: builds the application from its settings, top to bottom.

`run` opens what has to be closed again. `_build` constructs every service with what it needs; no
service is changed afterwards. `lifecycle` starts and ends them.
"""

import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial

import tzlocal

from adapters.contract import ChatAdapter
from agent_core.agent import Agent, SessionCache
from agent_core.agent.compaction import Compactor
from agent_core.agent.quotas import Quotas
from agent_core.ids import InboxId
from agent_core.memory import ExternalMemory, SharedMemory, scan_all
from agent_core.models import Model
from agent_core.state.engine.database import Connection, Database, Observer
from agent_core.state.people import people
from agent_core.state.people.people import Person
from agent_core.tools import Tool
from gateway.attachments import make_reader
from gateway.bootstrap import factories, maintenance
from gateway.bootstrap.commands import CommandDeps, make_commands
from gateway.bootstrap.lifecycle import Companion, Gateway, serve
from gateway.bootstrap.platform_supervisor import Platforms
from gateway.bootstrap.scheduling import SchedulingDeps, make_scheduling
from gateway.bootstrap.timings import Timings
from gateway.bootstrap.toolboxes import ToolDeps, make_toolboxes
from gateway.commands import COMMANDS, HIDDEN
from gateway.concurrency import FairSemaphore, Signal
from gateway.config import Settings
from gateway.config import now as wall_clock
from gateway.conversion import make_zone_finder
from gateway.inbound import InboundRouter, RouterDeps
from gateway.jobs import JobHistory, Notifier, Outcomes
from gateway.outbound import CommandFormatter, Composer, OutboxDispatcher, Questions
from gateway.people import (
    LOCAL_PLATFORM,
    Access,
    AccountMerging,
    DataConfirmations,
    DataErase,
    DataExport,
    DataForget,
    DataRequests,
    Identity,
    Linking,
    Notices,
    RequestQueue,
    Rooms,
    new_claim_code,
)
from gateway.turns import (
    AttachmentStage,
    LaneDeps,
    Lanes,
    TurnDeps,
    TurnHandles,
    TurnRunner,
    UserPrompts,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Extensions:
    """Additions of the program that starts the gateway."""

    tools: tuple[Tool, ...] = ()
    """Tools besides the built-in ones."""
    adapters: Mapping[str, ChatAdapter] = field(default_factory=dict)
    """Platforms besides those that the settings turn on."""
    model: Model | None = None
    """Replaces the model provider of the settings."""
    observe: Observer | None = None
    """Called for every commit."""
    now: Callable[[], int] = wall_clock
    """The time of day, in milliseconds since the epoch, UTC."""
    timings: Timings = field(default_factory=Timings)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Core:
    """The services that need no TaskGroup, and the signals between services."""

    settings: Settings
    extensions: Extensions
    database: Database
    model: Model
    external_memory: ExternalMemory | None
    memory: SharedMemory
    platforms: Platforms
    identity: Identity
    rooms: Rooms
    sessions: SessionCache
    quotas: Quotas
    compactor: Compactor
    zone: str
    """The deployment's IANA time zone."""
    zone_of: Callable[[Person], str]
    now: Callable[[], int]
    wakeup: asyncio.Event
    """Set after a write that may make a job due earlier."""
    data_removed: Signal[None]
    """Emitted after personal data was removed: caches are out of date."""
    stale_messages: Signal[Sequence[InboxId]]
    """Emitted with messages that have to be routed again."""


async def run(
    settings: Settings,
    *,
    stop: asyncio.Event,
    companions: Sequence[Companion] = (),
    extensions: Extensions | None = None,
) -> None:
    """Build the gateway and serve until `stop` is set, then end it in order.

    Raises `StartError`, `StoreError` if the home can't be used, and `Broken`.
    """
    extra = extensions or Extensions()
    model = extra.model or factories.load_model(settings)
    async with AsyncExitStack() as stack:
        database = await factories.open_database(settings.home, extra.observe, extra.timings)
        stack.push_async_callback(database.close)
        stack.push_async_callback(model.close)
        await factories.check_model(model, settings)
        external_memory = await factories.load_external_memory(settings, database, extra.now)
        if external_memory:
            stack.push_async_callback(external_memory.close)
        core = _make_core(settings, extra, database, model, external_memory)
        claim_code = await _make_claim_code(core)
        build = partial(_build, core=core, claim_code=claim_code)
        await serve(build, stop=stop, companions=companions)


def _make_core(
    settings: Settings,
    extra: Extensions,
    database: Database,
    model: Model,
    external_memory: ExternalMemory | None,
) -> _Core:
    adapters = {**factories.load_adapters(settings), **extra.adapters}
    zone = settings.people.time_zone or tzlocal.get_localzone_name()
    quotas = factories.make_quotas(settings, database, zone)
    return _Core(
        settings=settings,
        extensions=extra,
        database=database,
        model=model,
        external_memory=external_memory,
        memory=factories.make_memory(settings, database),
        platforms=Platforms(adapters),
        identity=Identity(database, Access(settings.access.allow), extra.now),
        rooms=Rooms(database=database, adapters=adapters, now=extra.now),
        sessions=SessionCache(database),
        quotas=quotas,
        compactor=factories.make_compactor(settings, database, model, quotas),
        zone=zone,
        zone_of=make_zone_finder(zone),
        now=extra.now,
        wakeup=asyncio.Event(),
        data_removed=Signal(),
        stale_messages=Signal(),
    )


def _build(group: asyncio.TaskGroup, core: _Core, claim_code: str | None) -> Gateway:
    """Construct every service; nothing runs yet."""
    settings, database, now = core.settings, core.database, core.now
    adapters, memory = core.platforms.adapters, core.memory.store
    notifier, dispatcher = _make_dispatcher(group, core)
    notices = Notices(database, dispatcher)
    outcomes = Outcomes(
        notifier,
        zone_of=core.zone_of,
        notify_owners=notices.enqueue_for_owners,
        wakeup=core.wakeup,
    )
    removed = partial(core.data_removed.emit, None)
    exports = DataExport(database, settings.home, adapters=adapters, now=now)
    forgetting = DataForget(database, memory, settings.home, now=now)
    erasing = DataErase(database, memory, settings.home, now=now, renew=removed)
    request_queue = RequestQueue()
    data_requests = DataRequests(
        request_queue,
        forgetting,
        erasing,
        database=database,
        enqueue=dispatcher.enqueue,
        now=now,
    )
    merging = AccountMerging(memory)
    confirmations = DataConfirmations(request_queue)
    questions = Questions(
        database=database,
        dispatcher=dispatcher,
        zone=core.zone,
        now=now,
        answerers={**merging.answerers(), **confirmations.answerers()},
    )
    handles = TurnHandles()
    user_prompts = UserPrompts(
        database=database,
        dispatcher=dispatcher,
        questions=questions,
        handles=handles,
        now=now,
        patience=core.extensions.timings.answer_patience,
    )
    agent = _make_agent(core, user_prompts)
    turn_deps = TurnDeps(
        database=database,
        agent=agent,
        dispatcher=dispatcher,
        questions=questions,
        outcomes=outcomes,
        zone_of=core.zone_of,
        now=now,
        start_delay=core.extensions.timings.start_delay,
        display=core.extensions.timings.display,
    )
    lanes = _make_lanes(group, core, TurnRunner(turn_deps), user_prompts, handles)
    router = _make_router(group, core, lanes, turn_deps, (merging, exports, forgetting))
    core.data_removed.connect(lambda _: router.forget_known())
    core.data_removed.connect(lambda _: agent.clear_caches())
    tasks = maintenance.make_task_runner(
        settings, database, core.model, memory, core.quotas, notices
    )
    background: list[Callable[[], Coroutine[object, object, None]]] = [
        tasks.run,
        data_requests.run,
        partial(scan_all, memory, database, now),
        *([core.external_memory.run] if core.external_memory else []),
    ]
    return Gateway(
        settings=settings,
        database=database,
        memory=core.memory,
        external_memory=core.external_memory,
        platforms=core.platforms,
        identity=core.identity,
        router=router,
        lanes=lanes,
        dispatcher=dispatcher,
        questions=questions,
        user_prompts=user_prompts,
        exports=exports,
        data_requests=data_requests,
        scheduling=make_scheduling(
            SchedulingDeps(
                group=group,
                settings=settings,
                database=database,
                lanes=lanes,
                dispatcher=dispatcher,
                external_memory=core.external_memory,
                notices=notices,
                notifier=notifier,
                outcomes=outcomes,
                zone=core.zone,
                data_removed=core.data_removed,
                now=now,
            )
        ),
        background=background,
        claim_code=claim_code,
        started=time.monotonic(),
        now=now,
    )


def _make_dispatcher(group: asyncio.TaskGroup, core: _Core) -> tuple[Notifier, OutboxDispatcher]:
    adapters = core.platforms.adapters
    history = JobHistory(core.sessions.id_allocator)
    notifier = Notifier(adapters, history, zone_of=core.zone_of)
    names = [spec.name for spec in (*COMMANDS, *HIDDEN)]
    dispatcher = OutboxDispatcher(
        group=group,
        database=core.database,
        composer=Composer(core.database, adapters, CommandFormatter([*names, "claim"])),
        reroute=notifier.reroute,
        now=core.now,
        timings=core.extensions.timings.delivery,
    )
    return notifier, dispatcher


def _make_agent(core: _Core, user_prompts: UserPrompts) -> Agent:
    deps = ToolDeps(
        settings=core.settings,
        database=core.database,
        memory=core.memory,
        user_prompts=user_prompts,
        external_memory=core.external_memory,
        zone=core.zone,
        forget_people=core.identity.forget_known,
        wake_jobs=core.wakeup.set,
    )
    return Agent(
        config=factories.make_agent_config(
            core.settings, core.sessions, core.quotas, core.compactor, core.external_memory
        ),
        database=core.database,
        model=core.model,
        toolboxes=make_toolboxes(deps, core.extensions.tools),
        memory=core.memory,
        now=core.now,
    )


def _make_lanes(
    group: asyncio.TaskGroup,
    core: _Core,
    runner: TurnRunner,
    user_prompts: UserPrompts,
    handles: TurnHandles,
) -> Lanes:
    limits = core.settings.turns
    return Lanes(
        LaneDeps(
            group=group,
            database=core.database,
            runner=runner,
            places=FairSemaphore(at_once=limits.at_once, per_person=limits.per_person),
            rooms=core.rooms,
            user_prompts=user_prompts,
            handles=handles,
            on_stale=core.stale_messages.emit,
            crash_wait=core.extensions.timings.crash_wait,
        )
    )


def _make_router(
    group: asyncio.TaskGroup,
    core: _Core,
    lanes: Lanes,
    turn_deps: TurnDeps,
    people_services: tuple[AccountMerging, DataExport, DataForget],
) -> InboundRouter:
    settings, database, now = core.settings, core.database, core.now
    adapters, questions = core.platforms.adapters, turn_deps.questions
    merging, exports, forgetting = people_services
    reader = make_reader(
        settings.media, settings.secrets, database=database, adapters=adapters, now=now
    )
    deps = RouterDeps(
        database=database,
        identity=core.identity,
        rooms=core.rooms,
        linking=Linking(database=database, questions=questions, merging=merging, now=now),
        questions=questions,
        lanes=lanes,
        attachments=AttachmentStage(
            group=group,
            database=database,
            reader=reader,
            lanes=lanes,
            dispatcher=turn_deps.dispatcher,
            now=now,
        ),
        stale_messages=core.stale_messages,
        zone_of=core.zone_of,
        wake_jobs=core.wakeup.set,
    )
    extra = CommandDeps(
        settings=settings,
        memory=core.memory,
        external=core.external_memory,
        compactor=core.compactor,
        quotas=core.quotas,
        exports=exports,
        forgetting=forgetting,
        platforms=adapters.keys(),
    )
    return InboundRouter(
        group=group,
        deps=deps,
        commands=make_commands(deps, extra),
        dispatcher=turn_deps.dispatcher,
        adapters=adapters,
        now=now,
    )


async def _make_claim_code(core: _Core) -> str | None:
    """Make a claim code if a chat platform is on and has no owner yet. Raises `StoreError`."""
    if len(core.platforms.adapters) == 1:
        return None

    def work(connection: Connection) -> str | None:
        if people.has_platform_owner(connection, local_platform=LOCAL_PLATFORM):
            return None
        return new_claim_code(connection, now=core.now())

    return await core.database.write("people.code", work)
