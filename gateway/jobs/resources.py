"""The models, tools and skills that jobs may use, and the names of their chats."""

from collections.abc import Sequence
from functools import partial

from agent_core.digest import ChartTool, GatherTool
from agent_core.errors import SkillBroken, SkillMissing
from agent_core.ids import PersonId
from agent_core.memory import ArchiveTool, MemoryTool, ProposeSoulTool
from agent_core.recall import RecallTool
from agent_core.schedule import SCHEDULE_SPEC, JobResources, JobRules
from agent_core.skills import SkillCatalog
from agent_core.state.engine.database import Connection
from agent_core.state.jobs.jobs import Target
from agent_core.state.people import delivery_targets, rooms
from agent_core.state.people.delivery_targets import Home
from agent_core.tools.send_file import SendFileTool
from agent_core.tools.settings_tool import SettingsTool
from agent_core.tools.user_questions import AskTool
from gateway import conversion
from gateway.config import SKILLS, Settings
from gateway.texts.general import name_platform

_OPEN = (MemoryTool, RecallTool, ArchiveTool, SendFileTool)
_PRIVATE = (SettingsTool, ProposeSoulTool)
_GATHERING = (GatherTool, ChartTool)
_EXTERNAL = {"": (), "honcho": ("ask_memory",)}
"""The tools of each external memory provider. Listed here to avoid importing its SDK."""


def make_rules(settings: Settings) -> JobRules:
    """Return the limits and resources of jobs."""
    jobs = settings.jobs
    return JobRules(
        per_person=jobs.per_person, least_minutes=jobs.least_minutes, means=_make_means(settings)
    )


def _make_means(settings: Settings) -> JobResources:
    model = settings.model
    open_tools = [tool.spec.name for tool in _OPEN]
    private = [tool.spec.name for tool in _PRIVATE]
    shared = [AskTool.spec.name, SCHEDULE_SPEC.name]
    gathering = [tool.spec.name for tool in _GATHERING]
    external = _EXTERNAL[settings.memory.provider]
    place = SkillCatalog(settings.home / SKILLS)
    return JobResources(
        models=tuple(dict.fromkeys(filter(None, (model.name, model.fallback, model.cheap)))),
        tools=(*open_tools, *private, *external, *shared, *gathering),
        room_tools=(*open_tools, *shared, *gathering),
        fault_of_skill=partial(_find_fault, place),
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
    if target == here:
        return "here"
    match target.kind:
        case "place":
            return _name_chat(connection, (target.platform, target.chat))
        case "home" if home.place:
            whose = "your home" if here else "their home"
            return f"{whose}, {_name_chat(connection, home.place)}"
        case "home":
            return _name_last(seen, here)
        case "account" if any(chat_ref[0] == target.platform for chat_ref in seen):
            return name_platform(target.platform)
        case "account":
            whom = "we have" if here else "they have"
            place = name_platform(target.platform)
            return f"{place}, where {whom} not talked yet: until then {_name_last(seen, here)}"


def _name_last(seen: Sequence[ChatRef], here: Target | None) -> str:
    """Name the chat of a person without a home chat."""
    whom = "we" if here else "they"
    now = f" (now {name_platform(seen[0][0])})" if seen else ""
    return f"wherever {whom} talked last in private{now}"


def _name_chat(connection: Connection, chat_ref: ChatRef) -> str:
    platform, address = name_platform(chat_ref[0]), conversion.read_chat(chat_ref[1])
    if address.is_direct:
        return platform
    room = rooms.find(connection, platform=chat_ref[0], chat_id=address.chat_id)
    name = room.title if room and room.title else "a room"
    thread = ", in a thread" if address.thread_id else ""
    return f"{name} in {platform}{thread}"
