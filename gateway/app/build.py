"""The composition root: builds the application from its settings, top to bottom.

`run` opens the resources that need closing. `_build` constructs every service with what it needs;
no service is changed afterwards. `lifecycle` starts and stops the services.
"""

import asyncio
import time
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AsyncExitStack
from functools import partial

from agent_core.agent.agent import Agent
from agent_core.agent.budget import Limits
from agent_core.agent.replay.session_log import enqueue_log
from agent_core.agent.toolboxes import Toolboxes
from agent_core.memory.sync import scan_all
from agent_core.models.router import ModelPolicy
from agent_core.state.engine.database import Connection
from agent_core.state.people import people
from agent_core.tools.mcp.hub import McpServers
from agent_core.tools.text_cleaner import TextCleaner
from gateway.app import factories, maintenance
from gateway.app.core import (
    Core,
    DataServices,
    Extensions,
    add_plugins,
    make_core,
    warn_of_unknown_people,
)
from gateway.app.external_plugins import ExternalPlugins
from gateway.app.lifecycle import Companion, Gateway, serve
from gateway.app.plugins import load_backend
from gateway.app.routing import make_event_jobs, make_router, prepare_model
from gateway.app.scheduling import list_deliveries, make_scheduling
from gateway.app.settings import Settings
from gateway.app.toolboxes import (
    build_toolboxes,
    make_client_calls,
    make_link_sender,
    make_mcp_servers,
)
from gateway.background.alerts import AlertWatch
from gateway.commands.catalog import make_menu
from gateway.fairness import FairSemaphore, Signal
from gateway.jobs.history import JobHistory
from gateway.jobs.notifier import Notifier
from gateway.jobs.outcomes import Outcomes
from gateway.outbound.command_formatter import CommandFormatter
from gateway.outbound.composer import Composer
from gateway.outbound.dispatcher import OutboxDispatcher
from gateway.outbound.progress_lines import ProgressLines
from gateway.outbound.questions import Questions
from gateway.people.admission import LOCAL_PLATFORM, UNATTENDED, new_claim_code
from gateway.people.data_confirmations import DataConfirmations
from gateway.people.data_erase import DataErase
from gateway.people.data_export import DataExport, remove_drafts
from gateway.people.data_forget import DataForget
from gateway.people.data_requests import DataRequests, RequestQueue
from gateway.people.merging import AccountMerging
from gateway.people.owner_notices import Notices
from gateway.people.reading_consent import make_reading_answerers
from gateway.people.room_consent import make_consent_answerers
from gateway.turns.call_approvals import make_call_answerers
from gateway.turns.finalizer import TurnDeps
from gateway.turns.handle import TurnHandles
from gateway.turns.lanes import LaneDeps, Lanes
from gateway.turns.proposals import make_proposal_answerers
from gateway.turns.runner import TurnRunner
from gateway.turns.user_prompts import UserPrompts


async def run(
    settings: Settings,
    *,
    stop: asyncio.Event,
    prepare: Callable[[], None] | None = None,
    companions: Sequence[Companion] = (),
    extensions: Extensions | None = None,
) -> None:
    """Build the gateway and serve until `stop` is set, then stop it in order.

    Calls `prepare` after it has locked the home, and before any platform connects. Raises
    `StartError`, `StoreError` if the home can't be used, and `Broken`.
    """
    external = ExternalPlugins(settings)
    settings, extra = add_plugins(settings, extensions or Extensions(), external)
    model = extra.model or factories.load_model(settings, external)
    async with AsyncExitStack() as stack:
        database = await factories.open_database(settings.home, extra.observe, extra.timings)
        stack.push_async_callback(database.close)
        stack.push_async_callback(model.close)
        await asyncio.to_thread(remove_drafts, settings.home)  # before anybody exports again
        if prepare:
            prepare()
        await factories.check_model(model, settings)
        external_memory = await factories.load_external_memory(
            settings, database, external, extra.now
        )
        if external_memory:
            stack.push_async_callback(external_memory.close)
        backend = await load_backend(settings)
        core = make_core(settings, extra, database, model, external_memory, backend)
        if backend:
            stack.push_async_callback(backend.close)
        if core.background:
            stack.push_async_callback(core.background.close)
        await warn_of_unknown_people(core)
        claim_code = await _make_claim_code(core)
        build = partial(_build, core=core, claim_code=claim_code)
        await serve(build, stop=stop, companions=companions)


def _build(group: asyncio.TaskGroup, core: Core, claim_code: str | None) -> Gateway:
    """Construct every service; nothing runs yet."""
    notifier, dispatcher = _make_dispatcher(group, core)
    notices = Notices(core.database, dispatcher)
    outcomes = Outcomes(notifier, zone_of=core.zone_of, wakeup=core.wakeup)
    alerts = maintenance.make_alerts(core, notices)
    lost_store = maintenance.make_lost_store_alarm(core, notices)
    webhooks = maintenance.make_webhooks(group, core, notices)
    handles = TurnHandles()
    data = _make_data_services(core, dispatcher, handles)
    toolboxes = build_toolboxes(core, data.mcp, data.user_prompts, dispatcher)
    agent = _make_agent(core, toolboxes)
    turn_deps = _make_turn_deps(core, agent, data.questions, outcomes, alerts, dispatcher)
    lanes = _make_lanes(group, core, TurnRunner(turn_deps), data.questions, handles)
    event_jobs = make_event_jobs(core, dispatcher, outcomes)
    router = make_router(group, core, lanes, turn_deps, data, event_jobs)
    core.rooms.closed.connect(lambda closed: dispatcher.enqueue(closed.rows))
    core.rooms.closed.connect(lambda closed: lanes.leave(closed.room))
    core.data_removed.connect(lambda _: router.forget_known())
    core.data_removed.connect(lambda _: agent.clear_caches())
    ready = Signal[None]()
    ready.connect(lambda _: prepare_model(core.model))
    return Gateway(
        settings=core.settings,
        database=core.database,
        memory=core.memory,
        external_memory=core.external_memory,
        platforms=core.platforms,
        identity=core.identity,
        rooms=core.rooms,
        router=router,
        lanes=lanes,
        dispatcher=dispatcher,
        questions=data.questions,
        user_prompts=data.user_prompts,
        exports=data.exports,
        data_requests=data.data_requests,
        scheduling=make_scheduling(group, core, lanes, notices, notifier, outcomes),
        event_jobs=event_jobs,
        load_ids=core.sessions.id_allocator,
        client_calls=make_client_calls(core, dispatcher, data.questions, toolboxes),
        agents=core.agents,
        quotas=core.quotas,
        merging=data.merging,
        webhooks=webhooks,
        background=[
            webhooks.run,
            *_list_background(core, notices, data, toolboxes, lanes, agent),
            *list_deliveries(core, lanes, notifier),
            *([alerts.run, lost_store.run] if core.settings.alerts.enabled else []),
        ],
        ready=ready,
        claim_code=claim_code,
        started=time.monotonic(),
        zone_of=core.zone_of,
        now=core.now,
    )


def _list_background(
    core: Core,
    notices: Notices,
    data: DataServices,
    toolboxes: Toolboxes,
    lanes: Lanes,
    agent: Agent,
) -> list[Callable[[], Coroutine[object, object, None]]]:
    runners = maintenance.make_task_runners(core, notices, data, toolboxes, lanes)
    data.questions.answered.connect(lambda _: core.tasks_due.set())
    return [
        *(runner.run for runner in runners),
        data.data_requests.run,
        data.mcp.run,
        factories.make_idle_compactor(core.settings, core.compactor, core.quotas, lanes, agent).run,
        partial(scan_all, core.memory.store, core.database, core.now),
        *([core.external_memory.run] if core.external_memory else []),
    ]


def _make_data_services(
    core: Core, dispatcher: OutboxDispatcher, handles: TurnHandles
) -> DataServices:
    database, memory, now = core.database, core.memory.store, core.now
    home = core.settings.home
    forgetting = DataForget(database, memory, home, now=now)
    lines = ProgressLines(dispatcher, database, first=core.extensions.timings.first_progress)
    request_queue = RequestQueue()
    merging = AccountMerging(memory)
    confirmations = DataConfirmations(request_queue, home)
    questions = Questions(
        database=database,
        dispatcher=dispatcher,
        zone_of=core.zone_of,
        now=now,
        answerers={
            **merging.answerers(),
            **confirmations.answerers(),
            **make_call_answerers(),
            **make_proposal_answerers(),
            **make_consent_answerers(),
            **make_reading_answerers(),
        },
    )
    user_prompts = UserPrompts(
        database=database,
        dispatcher=dispatcher,
        questions=questions,
        handles=handles,
        now=now,
        patience=core.extensions.timings.answer_patience,
    )
    notices = Notices(database, dispatcher)
    send_link = make_link_sender(core, notices)
    mcp = make_mcp_servers(core, notices, user_prompts, send_link)
    return DataServices(
        mcp=mcp,
        send_link=send_link,
        exports=DataExport(database, home, adapters=core.platforms.adapters, now=now),
        forgetting=forgetting,
        lines=lines,
        data_requests=DataRequests(
            request_queue,
            forgetting,
            _make_eraser(core, mcp),
            database=database,
            enqueue=dispatcher.enqueue,
            lines=lines,
            now=now,
        ),
        merging=merging,
        questions=questions,
        user_prompts=user_prompts,
    )


def _make_eraser(core: Core, mcp: McpServers) -> DataErase:
    return DataErase(
        core.database,
        core.memory.store,
        core.settings.home,
        now=core.now,
        renew=partial(core.data_removed.emit, None),
        end_sign_ins=mcp.sign_ins.tidy,
    )


def _make_turn_deps(
    core: Core,
    agent: Agent,
    questions: Questions,
    outcomes: Outcomes,
    alerts: AlertWatch,
    dispatcher: OutboxDispatcher,
) -> TurnDeps:
    timings = core.extensions.timings
    return TurnDeps(
        database=core.database,
        agent=agent,
        dispatcher=dispatcher,
        questions=questions,
        outcomes=outcomes,
        zone_of=core.zone_of,
        now=core.now,
        note_fault=alerts.note_fault,
        mail_due=core.agent_mail.due,
        speech_due=core.speech_due if core.settings.media.speech_command else None,
        review_rules=factories.make_review_rules(core.settings),
        start_delay=timings.start_delay,
        outage_pace=timings.outage_pace,
        display=timings.display,
    )


def _make_dispatcher(group: asyncio.TaskGroup, core: Core) -> tuple[Notifier, OutboxDispatcher]:
    adapters = core.platforms.adapters
    history = JobHistory(core.sessions.id_allocator)
    notifier = Notifier(adapters, history, zone_of=core.zone_of)
    names = [entry.name for entry in make_menu()]

    def list_names() -> list[str]:
        return [*names, *(skill.name for skill in core.skills.list_commands())]

    dispatcher = OutboxDispatcher(
        group=group,
        database=core.database,
        composer=Composer(
            core.database, adapters, CommandFormatter(list_names), TextCleaner(core.secret_mask)
        ),
        reroute=notifier.reroute,
        now=core.now,
        timings=core.extensions.timings.delivery,
    )
    return notifier, dispatcher


def _make_agent(core: Core, toolboxes: Toolboxes) -> Agent:
    settings, model, limits = core.settings, core.settings.model, core.settings.turns
    return Agent(
        database=core.database,
        model=core.model,
        policy=ModelPolicy(
            model=model.name,
            fallbacks=model.fallbacks,
            cheap=model.cheap,
            patience=model.patience,
            max_output_tokens=model.max_output_tokens,
        ),
        models=model.named,
        job_patience=model.job_patience,
        limits=Limits(
            steps=limits.max_steps,
            tokens=limits.max_tokens,
            micro_dollars=factories.count_micro_dollars(limits.max_cost_usd),
            seconds=limits.max_seconds,
        ),
        quotas=core.quotas,
        toolboxes=toolboxes,
        prompts=factories.make_prompt_cache(
            settings, core.database, core.memory, core.skills, core.now
        ),
        sessions=core.sessions,
        compactor=core.compactor,
        recall_tokens=settings.memory.recall_tokens,
        external_memory=core.external_memory,
        user_model=core.user_model,
        agents=core.agents,
        agent_mail=core.agent_mail,
        note_end=enqueue_log if settings.session_log.enabled else None,
        now=core.now,
    )


def _make_lanes(
    group: asyncio.TaskGroup,
    core: Core,
    runner: TurnRunner,
    questions: Questions,
    handles: TurnHandles,
) -> Lanes:
    limits = core.settings.turns
    return Lanes(
        LaneDeps(
            group=group,
            database=core.database,
            runner=runner,
            places=FairSemaphore(at_once=limits.at_once, per_person=limits.per_person),
            program_places=FairSemaphore(
                at_once=limits.at_once, per_person=max(1, limits.per_person - 1)
            ),
            rooms=core.rooms,
            answers=questions.answers,
            handles=handles,
            platforms=core.platforms.adapters.keys(),
            on_stale=core.stale_messages.emit,
            crash_wait=core.extensions.timings.crash_wait,
        )
    )


async def _make_claim_code(core: Core) -> str | None:
    """Make a claim code if a chat platform is on and has no owner yet. Raises `StoreError`."""
    if core.platforms.adapters.keys() <= UNATTENDED:
        return None

    def work(connection: Connection) -> str | None:
        if people.has_platform_owner(connection, local_platform=LOCAL_PLATFORM):
            return None
        return new_claim_code(connection, now=core.now())

    return await core.database.write("people.code", work)
