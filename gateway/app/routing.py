"""Builds the inbound router, with the services that an event may need before its turn starts."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

from agent_core.ids import PersonId
from agent_core.models.catalog import reads_pdf
from agent_core.models.contract import Model, Prepares
from agent_core.models.router import split_name
from gateway.app.commands import make_commands, make_mcp_commands
from gateway.app.core import Core, DataServices
from gateway.app.media import make_reader
from gateway.commands.registry import SlashCommand
from gateway.commands.skills import SkillCommands
from gateway.inbound.deps import RouterDeps
from gateway.inbound.router import InboundRouter
from gateway.jobs.events import EventJobs
from gateway.jobs.outcomes import Outcomes
from gateway.outbound.dispatcher import OutboxDispatcher
from gateway.people.admission import UNATTENDED
from gateway.people.linking import Linking
from gateway.people.onboarding import Onboarding
from gateway.people.room_consent import RoomConsent
from gateway.turns.attachment_stage import AttachmentStage
from gateway.turns.finalizer import TurnDeps
from gateway.turns.lanes import Lanes


def make_event_jobs(core: Core, dispatcher: OutboxDispatcher, outcomes: Outcomes) -> EventJobs:
    """Build the service that starts jobs when an event happens."""
    return EventJobs(
        database=core.database,
        take=outcomes.take_event,
        enqueue=dispatcher.enqueue,
        wake=core.wakeup.set,
        now=core.now,
    )


def make_router(
    group: asyncio.TaskGroup,
    core: Core,
    lanes: Lanes,
    turn_deps: TurnDeps,
    data: DataServices,
    event_jobs: EventJobs,
) -> InboundRouter:
    """Build the router of incoming events."""
    deps = _make_deps(group, core, lanes, turn_deps, data, event_jobs)
    return InboundRouter(
        group=group,
        deps=deps,
        commands=make_commands(deps, core, data, turn_deps.agent.toolboxes),
        dispatcher=turn_deps.dispatcher,
        adapters=core.platforms.adapters,
        now=core.now,
    )


def _make_finder(
    core: Core, data: DataServices
) -> Callable[[str, PersonId | None], Awaitable[SlashCommand | None]]:
    """Make the finder of commands that are not fixed: prompts of MCP servers, and skills."""
    (_, prompts), skills = make_mcp_commands(data), SkillCommands(core.skills, core.database)

    async def find(name: str, person_id: PersonId | None) -> SlashCommand | None:
        return await prompts.find_prompt(name, person_id) or await skills.find(name)

    return find


def _make_attachments(
    group: asyncio.TaskGroup, core: Core, lanes: Lanes, dispatcher: OutboxDispatcher
) -> AttachmentStage:
    settings, database, now = core.settings, core.database, core.now
    reader = make_reader(
        settings.media,
        settings.secrets,
        database=database,
        adapters=core.platforms.adapters,
        now=now,
        shows_pdf=reads_pdf(split_name(settings.model.name)[1]),
    )
    return AttachmentStage(
        group=group,
        database=database,
        reader=reader,
        lanes=lanes,
        dispatcher=dispatcher,
        now=now,
    )


def prepare_model(model: Model) -> None:
    """Load in the background what the model's first call needs."""
    if isinstance(model, Prepares):
        model.prepare()


def _make_deps(
    group: asyncio.TaskGroup,
    core: Core,
    lanes: Lanes,
    turn_deps: TurnDeps,
    data: DataServices,
    event_jobs: EventJobs,
) -> RouterDeps:
    database, now = core.database, core.now
    adapters, questions = core.platforms.adapters, turn_deps.questions
    return RouterDeps(
        database=database,
        agent=turn_deps.agent,
        identity=core.identity,
        rooms=core.rooms,
        consent=RoomConsent(
            database=database,
            room_directory=core.rooms,
            questions=questions,
            dispatcher=turn_deps.dispatcher,
            now=now,
        ),
        linking=Linking(
            database=database,
            questions=questions,
            merging=data.merging,
            adapters=adapters,
            now=now,
        ),
        onboarding=Onboarding(
            database,
            core.zone,
            adapters.keys(),
            greets_on=adapters.keys() - UNATTENDED if core.settings.access.greet else (),
        ),
        questions=questions,
        lanes=lanes,
        attachments=_make_attachments(group, core, lanes, turn_deps.dispatcher),
        stale_messages=core.stale_messages,
        zone_of=core.zone_of,
        hear=event_jobs.hear,
        find_command=_make_finder(core, data),
        prepare_model=partial(prepare_model, core.model),
        wake_jobs=core.wakeup.set,
    )
