"""Builds the slash commands; each gets only the services that it uses."""

from collections.abc import Mapping
from dataclasses import dataclass

from adapters.contract import ChatAdapter
from agent_core.agent import Toolboxes
from agent_core.agent.compaction import Compactor
from agent_core.agent.named import AgentFolder
from agent_core.agent.quotas import Quotas
from agent_core.memory import ExternalMemory, SharedMemory
from agent_core.skills.tools import SkillDirectory
from agent_core.tools.mcp import McpServers
from gateway.commands import (
    AgentCommands,
    ApprovalCommands,
    ArchiveNotes,
    BlockCommands,
    ContextCommands,
    ConversationCommands,
    CuratorCommands,
    JobCommands,
    LearningCommands,
    McpCommands,
    MemoryAccess,
    MemoryCommands,
    ModelCommands,
    PeopleCommands,
    PrivacyCommands,
    PrivateAnswers,
    ProfileCommands,
    ProvenanceCommands,
    RoomCommands,
    SessionCommands,
    SettingsCommands,
    SkillCommands,
    SkillUndo,
    SlashCommand,
    StatusReport,
    ToolCommands,
    bind,
)
from gateway.config import Settings
from gateway.inbound import RouterDeps
from gateway.jobs import make_rules
from gateway.people import DataExport, DataForget
from gateway.texts.models import ModelLine


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandDeps:
    """The services that only commands use, besides those of the router."""

    settings: Settings
    memory: SharedMemory
    external: ExternalMemory | None
    compactor: Compactor
    quotas: Quotas
    exports: DataExport
    forgetting: DataForget
    adapters: Mapping[str, ChatAdapter]
    mcp: McpServers
    toolboxes: Toolboxes
    agents: AgentFolder
    skills: SkillDirectory


def make_commands(deps: RouterDeps, extra: CommandDeps) -> tuple[SlashCommand, ...]:
    """Return every command of the catalog with its handler."""
    database, lanes = deps.database, deps.lanes
    access = MemoryAccess(database, extra.memory.store)
    notes = ArchiveNotes(access, lanes)
    learning = LearningCommands(access, deps.questions)
    memory = MemoryCommands(access, notes, learning.review)
    report = _make_report(deps, extra)
    groups = (
        ConversationCommands(
            database=database, lanes=lanes, attachments=deps.attachments, report=report
        ),
        SessionCommands(database=database, lanes=lanes),
        ContextCommands(
            database=database, lanes=lanes, compactor=extra.compactor, quotas=extra.quotas
        ),
        PeopleCommands(
            database=database,
            identity=deps.identity,
            linking=deps.linking,
            onboarding=deps.onboarding,
            pages=extra.settings.http.pages,
        ),
        memory,
        ProvenanceCommands(access, notes, SkillUndo(database, extra.skills.catalog.folder)),
        learning,
        CuratorCommands(access, extra.skills.catalog),
        ProfileCommands(access, memory.forget),
        BlockCommands(access=access, shared=extra.memory, platforms=extra.adapters.keys()),
        JobCommands(database, make_rules(extra.settings), extra.settings.http.hooks),
        PrivacyCommands(
            exports=extra.exports, forgetting=extra.forgetting, questions=deps.questions
        ),
        SettingsCommands(
            database=database,
            report=report,
            zone_of=deps.zone_of,
            can_speak=bool(extra.settings.media.speech_command),
        ),
        ModelCommands(
            database=database,
            models=_list_models(extra.settings),
            rules=make_rules(extra.settings),
            hears=bool(extra.settings.media.transcription),
        ),
        RoomCommands(deps.rooms, deps.consent),
        McpCommands(extra.mcp),
        SkillCommands(extra.skills, database),
        ToolCommands(database, extra.toolboxes, extra.agents),
        ApprovalCommands(database),
        AgentCommands(
            database=database,
            agents=extra.agents,
            lanes=lanes,
            rules=make_rules(extra.settings),
        ),
    )
    handlers = {name: run for group in groups for name, run in group.handlers().items()}
    return bind(handlers, PrivateAnswers(extra.adapters).wrap)


def _make_report(deps: RouterDeps, extra: CommandDeps) -> StatusReport:
    model = extra.settings.model
    return StatusReport(
        database=deps.database,
        lanes=deps.lanes,
        external=extra.external,
        model=f"{model.provider}: {model.name}",
        platforms=extra.adapters.keys(),
    )


def _list_models(settings: Settings) -> list[ModelLine]:
    """List the models that can be chosen, with their prices and what they see."""
    prices = settings.prices
    lines = []
    for name in settings.model.named:
        facts = prices.table.find(name)
        sees_images = facts.sees_images if facts else None
        lines.append(ModelLine(name=name, price=prices.find(name), sees_images=sees_images))
    return lines
