"""The models, tools and skills that jobs may use, and the names of their chats."""

from collections.abc import Sequence
from functools import partial

from agent_core.agent.named import MessageAgentTool
from agent_core.digest import ChartTool, GatherTool
from agent_core.errors import SkillBroken, SkillMissing
from agent_core.ids import PersonId
from agent_core.memory import ArchiveTool, MemoryTool, ProposeSoulTool
from agent_core.memory.recall import RecallTool
from agent_core.schedule import SCHEDULE_SPEC, JobResources, JobRules
from agent_core.skills import SkillCatalog
from agent_core.skills.tools import SkillManageTool, SkillsSearchTool, SkillViewTool
from agent_core.state.engine.database import Connection
from agent_core.state.jobs.jobs import Target
from agent_core.state.people import delivery_targets, rooms
from agent_core.state.people.delivery_targets import Home
from agent_core.tools import (
    WORKSPACE_TOOLS,
    AskTool,
    SendFileTool,
    SendMessageTool,
    SettingsTool,
    TodoTool,
)
from gateway import conversion
from gateway.config import Settings
from gateway.texts import jobs as job_texts
from gateway.texts.general import name_platform

_OPEN = (MemoryTool, RecallTool, ArchiveTool, SendFileTool)
_PRIVATE = (SettingsTool, SendMessageTool, ProposeSoulTool, SkillManageTool)
_GATHERING = (GatherTool, ChartTool)
_EXTERNAL = {"": (), "honcho": ("ask_memory",)}
"""The tools of each external memory provider. Listed here to avoid importing its SDK."""


def make_rules(settings: Settings) -> JobRules:
    """Return the limits and resources of jobs."""
    jobs = settings.jobs
    return JobRules(
        per_person=jobs.per_person,
        least_minutes=jobs.least_minutes,
        pause_after=jobs.pause_after,
        means=_make_means(settings),
    )


def _make_means(settings: Settings) -> JobResources:
    model = settings.model
    open_tools = [tool.spec.name for tool in _OPEN]
    private = [tool.spec.name for tool in _PRIVATE]
    shared = [AskTool.spec.name, TodoTool.spec.name, SCHEDULE_SPEC.name]
    shared += [MessageAgentTool.spec.name, SkillViewTool.spec.name, SkillsSearchTool.spec.name]
    gathering = [tool.spec.name for tool in _GATHERING]
    external = _EXTERNAL.get(settings.memory.provider, ())
    acting = WORKSPACE_TOOLS if settings.tools.backend or settings.tools.backends else ()
    shared += ["web_search", "web_fetch"] if settings.tools.search else ["web_fetch"]
    place = SkillCatalog(*settings.skill_places)
    return JobResources(
        models=model.named,
        tools=(*open_tools, *private, *external, *shared, *gathering, *acting),
        room_tools=(*open_tools, *shared, *gathering),
        fault_of_skill=partial(_find_fault, place),
        is_priced=lambda name: all(
            settings.prices.find(one) for one in (name or model.name, *model.fallbacks)
        ),
    )


def _find_fault(place: SkillCatalog, name: str) -> str:
    try:
        place.load(name)
    except (SkillMissing, SkillBroken) as error:
        return str(error)
    return ""


ChatRef = tuple[str, str]
"""A platform, and a chat on it."""


def name_places(
    connection: Connection, person_id: PersonId, targets: Sequence[Target], here: Target | None
) -> list[str]:
    """Return the names of a job's target chats; `here` is the chat that shows them.

    Without `here`, the reader is not the job's person.
    """
    home = delivery_targets.find(connection, person_id=person_id)
    seen = [
        chat_ref
        for chat_ref in delivery_targets.list_seen(connection, person_id=person_id)
        if conversion.read_chat(chat_ref[1]).is_direct
    ]
    return [_name(connection, target, home, seen, here) for target in targets]


def _name(
    connection: Connection, target: Target, home: Home, seen: Sequence[ChatRef], here: Target | None
) -> str:
    is_own = here is not None
    if target == here:
        return job_texts.HERE()
    match target.kind:
        case "place":
            return _name_chat(connection, (target.platform, target.chat))
        case "home" if home.place:
            return job_texts.name_home(_name_chat(connection, home.place), is_own=is_own)
        case "home":
            return job_texts.name_latest(seen[0][0] if seen else "", is_own=is_own)
        case "account" if any(chat_ref[0] == target.platform for chat_ref in seen):
            return name_platform(target.platform)
        case "account":
            latest = job_texts.name_latest(seen[0][0] if seen else "", is_own=is_own)
            return job_texts.name_new_account(target.platform, latest, is_own=is_own)


def _name_chat(connection: Connection, chat_ref: ChatRef) -> str:
    address = conversion.read_chat(chat_ref[1])
    if address.is_direct:
        return name_platform(chat_ref[0])
    room = rooms.find(connection, platform=chat_ref[0], chat_id=address.chat_id)
    title = room.title if room else ""
    return job_texts.name_group(title, chat_ref[0], is_thread=bool(address.thread_id))
