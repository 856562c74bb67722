"""Builds the slash commands; each gets only the services that it uses."""

from agent_core.agent.toolboxes import Toolboxes
from gateway.app.core import Core, DataServices
from gateway.app.factories import make_review_rules
from gateway.app.job_rules import make_rules
from gateway.app.settings import Settings
from gateway.commands.agents import AgentCommands
from gateway.commands.approvals import ApprovalCommands
from gateway.commands.archive import ArchiveNotes
from gateway.commands.blocks import BlockCommands
from gateway.commands.catalog import bind
from gateway.commands.connections import ConnectionCommands
from gateway.commands.context import ContextCommands
from gateway.commands.conversation import ConversationCommands, SessionCommands, StatusReport
from gateway.commands.curator import CuratorCommands
from gateway.commands.jobs import JobCommands
from gateway.commands.learned import LearningCommands
from gateway.commands.mcp import McpCommands
from gateway.commands.memory import MemoryCommands
from gateway.commands.memory_scope import MemoryAccess
from gateway.commands.people import PeopleCommands
from gateway.commands.privacy import PrivacyCommands
from gateway.commands.profile import ProfileCommands
from gateway.commands.provenance import ProvenanceCommands
from gateway.commands.registry import SlashCommand
from gateway.commands.rooms import PrivateAnswers, RoomCommands
from gateway.commands.settings import ModelCommands, SettingsCommands
from gateway.commands.skill_undo import SkillUndo
from gateway.commands.skills import SkillCommands
from gateway.commands.toolsets import ToolCommands
from gateway.inbound.deps import RouterDeps
from gateway.texts.models import ModelLine
from gateway.turns.lanes import Lanes


def make_commands(
    deps: RouterDeps, core: Core, data: DataServices, toolboxes: Toolboxes
) -> tuple[SlashCommand, ...]:
    """Return every command of the catalog with its handler."""
    database, lanes, settings = core.database, deps.lanes, core.settings
    adapters, rules = core.platforms.adapters, make_rules(settings)
    access = MemoryAccess(database, core.memory.store)
    notes = ArchiveNotes(access, deps.agent)
    learning = LearningCommands(access, deps.questions, make_review_rules(settings))
    memory = MemoryCommands(access, notes, learning.review)
    report = _make_report(core, lanes)
    groups = (
        ConversationCommands(
            database=database, lanes=lanes, attachments=deps.attachments, report=report
        ),
        SessionCommands(database=database, lanes=lanes),
        ContextCommands(
            database=database,
            lanes=lanes,
            agent=deps.agent,
            compactor=core.compactor,
            quotas=core.quotas,
        ),
        PeopleCommands(
            database=database,
            identity=deps.identity,
            linking=deps.linking,
            onboarding=deps.onboarding,
            pages=settings.http.pages,
        ),
        memory,
        ProvenanceCommands(access, notes, SkillUndo(database, core.skills.catalog.folder)),
        learning,
        CuratorCommands(access, core.skills.catalog),
        ProfileCommands(access, memory.forget),
        BlockCommands(access=access, shared=core.memory, platforms=adapters.keys()),
        JobCommands(database, rules, settings.http.hooks),
        _make_privacy_commands(data),
        SettingsCommands(
            database=database,
            report=report,
            zone_of=deps.zone_of,
            can_speak=bool(settings.media.speech_command),
        ),
        ModelCommands(
            database=database,
            models=_list_models(settings),
            rules=rules,
            hears=bool(settings.media.transcription),
        ),
        RoomCommands(deps.rooms, deps.consent),
        *make_mcp_commands(data),
        SkillCommands(core.skills, database),
        ToolCommands(database, toolboxes, core.agents),
        ApprovalCommands(database),
        AgentCommands(database=database, agents=core.agents, lanes=lanes, rules=rules),
    )
    handlers = {name: run for group in groups for name, run in group.handlers().items()}
    return bind(handlers, PrivateAnswers(adapters).wrap)


def make_mcp_commands(data: DataServices) -> tuple[ConnectionCommands, McpCommands]:
    """Build the commands about MCP servers: everybody's, and those of owners."""
    connections = ConnectionCommands(data.mcp.sign_ins, data.send_link)
    return connections, McpCommands(data.mcp, connections)


def _make_report(core: Core, lanes: Lanes) -> StatusReport:
    model = core.settings.model
    return StatusReport(
        database=core.database,
        lanes=lanes,
        external=core.external_memory,
        model=f"{model.provider}: {model.name}",
        platforms=core.platforms.adapters.keys(),
    )


def _list_models(settings: Settings) -> list[ModelLine]:
    """List the models that people can choose: prices, and whether each one can read pictures."""
    prices = settings.prices
    lines = []
    for name in settings.model.named:
        facts = prices.table.find(name)
        sees_images = facts.sees_images if facts else None
        lines.append(ModelLine(name=name, price=prices.find(name), sees_images=sees_images))
    return lines


def _make_privacy_commands(data: DataServices) -> PrivacyCommands:
    return PrivacyCommands(
        exports=data.exports,
        forgetting=data.forgetting,
        questions=data.questions,
        lines=data.lines,
    )
