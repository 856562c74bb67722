"""The core services, which need no TaskGroup, and the extensions of an embedding program."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from adapters.contract import ChatAdapter
from agent_core.agent.caches import SessionCache
from agent_core.agent.compaction.compactor import Compactor
from agent_core.agent.named.folder import AgentFolder
from agent_core.agent.named.mail import AgentMail
from agent_core.agent.quotas.reservations import Quotas
from agent_core.execution.contract import Backend
from agent_core.execution.selected import SelectedBackends
from agent_core.ids import InboxId
from agent_core.memory.archive.conclusions import LocalUserModel
from agent_core.memory.external.client import ExternalMemory
from agent_core.memory.shared import SharedMemory
from agent_core.models.contract import Model
from agent_core.skills.catalog import SkillCatalog
from agent_core.skills.tools.directory import SkillDirectory
from agent_core.state.engine.connection import Observer
from agent_core.state.engine.database import Database
from agent_core.state.engine.database import now as wall_clock
from agent_core.state.people import people
from agent_core.state.people.people import Person
from agent_core.tools.contract import Tool
from agent_core.tools.mcp.accounts import SendLink
from agent_core.tools.mcp.hub import McpServers
from agent_core.tools.secret_scan import SecretMask
from agent_core.tools.workspace.background import BackgroundCommands, BackgroundLimits
from gateway.app import factories
from gateway.app.agent_folders import make_agent_folder
from gateway.app.external_plugins import ExternalPlugins
from gateway.app.platform_supervisor import Platforms
from gateway.app.settings import Settings
from gateway.app.timings import Timings
from gateway.fairness import Signal
from gateway.outbound.progress_lines import ProgressLines
from gateway.outbound.questions import Questions
from gateway.people.data_export import DataExport
from gateway.people.data_forget import DataForget
from gateway.people.data_requests import DataRequests
from gateway.people.identity import Identity
from gateway.people.merging import AccountMerging
from gateway.people.onboarding import Access
from gateway.people.rooms import Rooms
from gateway.turns.user_prompts import UserPrompts

_log = logging.getLogger(__name__)


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
    """Called directly before and after each commit."""
    now: Callable[[], int] = wall_clock
    """The time of day, in milliseconds since the epoch, UTC."""
    timings: Timings = field(default_factory=Timings)


def add_plugins(
    settings: Settings, extra: Extensions, external: ExternalPlugins
) -> tuple[Settings, Extensions]:
    """Add the platforms, tools and skills of plug-ins to the settings and the extensions.

    Raises `StartError`.
    """
    folders = tuple(map(str, external.list_skill_folders()))
    skills = settings.skills.model_copy(update={"folders": (*settings.skills.folders, *folders)})
    return settings.model_copy(update={"skills": skills}), replace(
        extra,
        tools=(*external.load_tools(), *extra.tools),
        adapters={**external.load_platforms(), **extra.adapters},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Core:
    """The services that need no TaskGroup, and the signals between services."""

    settings: Settings
    extensions: Extensions
    database: Database
    model: Model
    external_memory: ExternalMemory | None
    user_model: LocalUserModel | None
    memory: SharedMemory
    platforms: Platforms
    identity: Identity
    rooms: Rooms
    sessions: SessionCache
    quotas: Quotas
    compactor: Compactor
    backend: SelectedBackends | None
    """The place where commands run; None without tools that act."""
    background: BackgroundCommands | None
    """The long-running commands; None without a backend."""
    agents: AgentFolder
    skills: SkillDirectory
    """The skills, which everybody shares."""
    agent_mail: AgentMail
    """Messages that agents send each other without waiting for an answer."""
    zone: str
    """The deployment's IANA time zone."""
    zone_of: Callable[[Person | None], str]
    """Returns the IANA time zone of a person, or the deployment's."""
    secret_mask: SecretMask
    now: Callable[[], int]
    wakeup: asyncio.Event
    """Set after a write that may make a job due earlier."""
    tasks_due: asyncio.Event
    """Set after a write that queues a background task for which somebody waits."""
    speech_due: asyncio.Event
    """Set after a write that queues an answer to be converted to speech."""
    data_removed: Signal[None]
    """Emitted after personal data was removed, so that caches drop it."""
    stale_messages: Signal[Sequence[InboxId]]
    """Emitted with messages that have to be routed again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataServices:
    """The services for people's data and accounts, for questions to people, and for MCP."""

    exports: DataExport
    forgetting: DataForget
    lines: ProgressLines
    data_requests: DataRequests
    merging: AccountMerging
    questions: Questions
    user_prompts: UserPrompts
    mcp: McpServers
    send_link: SendLink
    """Sends a person the link of a server in their direct chat."""


def make_core(
    settings: Settings,
    extra: Extensions,
    database: Database,
    model: Model,
    external_memory: ExternalMemory | None,
    backend: SelectedBackends | None,
) -> Core:
    """Construct the services that need no TaskGroup."""
    adapters = {**factories.load_adapters(settings), **extra.adapters}
    zone = settings.zone
    quotas = factories.make_quotas(settings, database, zone)
    return Core(
        settings=settings,
        extensions=extra,
        database=database,
        model=model,
        external_memory=external_memory,
        user_model=factories.make_user_model(settings, database),
        memory=factories.make_memory(settings, database),
        platforms=Platforms(adapters),
        identity=Identity(
            database,
            Access(settings.access.allow),
            extra.now,
            zone=zone,
            owner_zone=settings.people.time_zone,
            adapters=adapters,
        ),
        rooms=Rooms(database=database, adapters=adapters, now=extra.now),
        sessions=SessionCache(database),
        quotas=quotas,
        compactor=factories.make_compactor(settings, database, model, quotas),
        backend=backend,
        background=_make_background(settings, extra, database, backend) if backend else None,
        agents=make_agent_folder(settings, [tool.spec.name for tool in extra.tools]),
        skills=SkillDirectory(
            SkillCatalog(*settings.skill_places), database, settings.skills.prompt_tokens
        ),
        agent_mail=AgentMail(database, extra.now),
        zone=zone,
        zone_of=lambda person: (person and person.time_zone) or zone,
        secret_mask=SecretMask(settings.hidden),
        now=extra.now,
        wakeup=asyncio.Event(),
        tasks_due=asyncio.Event(),
        speech_due=asyncio.Event(),
        data_removed=Signal(),
        stale_messages=Signal(),
    )


def _make_background(
    settings: Settings, extra: Extensions, database: Database, backend: Backend
) -> BackgroundCommands:
    limits = BackgroundLimits(
        most=settings.tools.background, seconds=settings.tools.background_hours * 3600.0
    )
    return BackgroundCommands(database, backend, limits, extra.now)


async def warn_of_unknown_people(core: Core) -> None:
    """Warn of unknown people in the settings `tools.backends` and `tools.network_people`.

    A typing mistake gives nobody new access. But the person who was meant keeps the default
    backend. Raises `StoreError`.
    """
    table = core.settings.tools
    known = {person.slug for person in await core.database.read(people.list_all)}
    for setting, names in (
        ("tools.backends", [name for name, _ in table.backends if ":" not in name]),
        ("tools.network_people", table.network_people),
    ):
        for name in set(names) - known - {"*"}:
            _log.warning(
                "%s names %s, but there is no such person; `talaria people list` shows the"
                " folder names",
                setting,
                name,
            )
