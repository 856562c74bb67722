"""Builds the slash commands; each gets only the services that it uses."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Protocol

from agent_core.schedule.job_editor import JobRules
from gateway.app.factories import make_review_rules
from gateway.app.job_rules import make_rules
from gateway.app.settings import Settings
from gateway.commands.agents import AgentCommands
from gateway.commands.approvals import ApprovalCommands
from gateway.commands.archive import ArchiveNotes
from gateway.commands.blocks import BlockCommands
from gateway.commands.catalog import bind
from gateway.commands.context import ContextCommands
from gateway.commands.conversation import ConversationCommands, SessionCommands, StatusReport
from gateway.commands.curator import CuratorCommands
from gateway.commands.deed_undo import DeedUndo
from gateway.commands.file_undo import FileUndo
from gateway.commands.jobs import JobCommands
from gateway.commands.learned import LearningCommands
from gateway.commands.memory import MemoryCommands
from gateway.commands.memory_scope import MemoryAccess
from gateway.commands.page_deeds import PageDeeds
from gateway.commands.people import PeopleCommands
from gateway.commands.privacy import PrivacyCommands
from gateway.commands.profile import ProfileCommands
from gateway.commands.provenance import ProvenanceCommands
from gateway.commands.registry import Handler, SlashCommand
from gateway.commands.rooms import PrivateAnswers, RoomCommands
from gateway.commands.settings import ModelCommands, SettingsCommands
from gateway.commands.skill_undo import SkillUndo
from gateway.commands.teams import TeamCommands
from gateway.commands.toolsets import ToolCommands
from gateway.jobs.new_times import NewTimes
from gateway.operations.contract import PreferenceContext
from gateway.outbound.webhooks.rules import WebhookRules
from gateway.texts.models import ModelLine

if TYPE_CHECKING:
    from gateway.app.gateway import Gateway


class _Commands(Protocol):
    """The commands of one topic."""

    def handlers(self) -> Mapping[str, Handler]:
        """Return the handlers by command name."""


def make_commands(gateway: "Gateway") -> tuple[SlashCommand, ...]:
    """Return every command of the catalog with its handler."""
    database, lanes, settings = gateway.database, gateway.lanes, gateway.settings
    adapters, rules = gateway.adapters, make_rules(settings)
    access = MemoryAccess(database, gateway.memory.store)
    notes = ArchiveNotes(access, gateway.agent)
    may_review, reviews = partial(gateway.trust.may, "reviews"), make_review_rules(settings)
    learning = LearningCommands(access, gateway.questions, reviews, may_review)
    curator = CuratorCommands(access, gateway.skills.catalog)
    memory = MemoryCommands(access, notes, learning.review, curator.list_conflicts)
    report, new_times = _make_report(gateway), NewTimes(gateway.questions, gateway.zone_of)
    scheduled = JobCommands(database, rules, settings.http.hooks, new_times)
    personal, models = _make_settings_commands(gateway, report, rules)
    tools = ToolCommands(database, gateway.toolboxes, gateway.agents)
    agents = _make_agent_commands(gateway, rules)
    undone = (
        SessionCommands(database=database, lanes=lanes),
        RoomCommands(gateway.rooms, gateway.consent),
    )
    others = (personal, models, tools, *agents, gateway.mcp_commands)
    groups = (
        ConversationCommands(
            database=database, lanes=lanes, attachments=gateway.attachments, report=report
        ),
        undone[0],
        ContextCommands(
            database=database,
            lanes=lanes,
            agent=gateway.agent,
            compactor=gateway.compactor,
            quotas=gateway.quotas,
        ),
        PeopleCommands(
            database=database,
            identity=gateway.identity,
            linking=gateway.linking,
            onboarding=gateway.onboarding,
            pages=settings.http.pages,
        ),
        memory,
        _make_undo(gateway, access, notes, (*undone, memory, scheduled, *others)),
        learning,
        curator,
        ProfileCommands(access, memory.forget),
        BlockCommands(access=access, shared=gateway.memory, platforms=adapters.keys()),
        scheduled,
        _make_privacy_commands(gateway),
        personal,
        models,
        undone[1],
        gateway.connection_commands,
        gateway.mcp_commands,
        gateway.skill_commands,
        tools,
        ApprovalCommands(database),
        *agents,
    )
    handlers = {name: run for group in groups for name, run in group.handlers().items()}
    return bind(handlers, PrivateAnswers(adapters).wrap)


def _make_settings_commands(
    gateway: "Gateway", report: StatusReport, rules: JobRules
) -> tuple[SettingsCommands, ModelCommands]:
    settings = gateway.settings
    personal = SettingsCommands(
        database=gateway.database,
        report=report,
        zone_of=gateway.zone_of,
        preferences=PreferenceContext(
            models=settings.model.named, can_speak=bool(settings.media.speaking)
        ),
    )
    models = ModelCommands(
        database=gateway.database,
        models=_list_models(settings),
        rules=rules,
        hears=bool(settings.media.hearing),
    )
    return personal, models


def _make_agent_commands(gateway: "Gateway", rules: JobRules) -> tuple[AgentCommands, TeamCommands]:
    agents = AgentCommands(
        database=gateway.database,
        agents=gateway.agents,
        editor=gateway.agent_editor,
        lanes=gateway.lanes,
        rules=rules,
    )
    return agents, TeamCommands(editor=gateway.agent_editor)


def _make_undo(
    gateway: "Gateway", access: MemoryAccess, notes: ArchiveNotes, groups: Sequence[_Commands]
) -> ProvenanceCommands:
    """Make the commands for undo; deeds are taken back by the commands of `groups`."""
    skills = SkillUndo(gateway.database, gateway.skills.catalog.folder)
    files = FileUndo(gateway.database, gateway.file_versions)
    table = gateway.settings.webhooks
    rules = WebhookRules(allow_hosts=table.allow_hosts, per_person=table.per_person)
    groups = (*groups, PageDeeds(webhooks=rules))
    deeds = DeedUndo(gateway.database, [group.handlers() for group in groups])
    return ProvenanceCommands(access, notes, skills, files, deeds)


def _make_report(gateway: "Gateway") -> StatusReport:
    model = gateway.settings.model
    return StatusReport(
        database=gateway.database,
        lanes=gateway.lanes,
        external=gateway.external_memory,
        model=f"{model.provider}: {model.name}",
        platforms=gateway.adapters.keys(),
    )


def _list_models(settings: Settings) -> list[ModelLine]:
    """List the models that people can choose: prices, and whether each one can read pictures."""
    prices = settings.prices
    lines = []
    for name in settings.model.named:
        facts = prices.table.find(name)
        sees_images = facts.sees_images if facts else None
        line = ModelLine(
            name=name,
            price=prices.find(name),
            is_free=prices.is_free(name),
            sees_images=sees_images,
        )
        lines.append(line)
    return lines


def _make_privacy_commands(gateway: "Gateway") -> PrivacyCommands:
    return PrivacyCommands(
        exports=gateway.exports,
        forgetting=gateway.forgetting,
        questions=gateway.questions,
        lines=gateway.lines,
    )
