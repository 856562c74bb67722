"""The models, tools and skills that jobs may use."""

from functools import partial

from agent_core.agent.named.tool import MessageAgentTool
from agent_core.digest.chart_tool import ChartTool
from agent_core.digest.gather_tool import GatherTool
from agent_core.errors import SkillBroken, SkillMissing
from agent_core.memory.archive.archive_tool import ArchiveTool
from agent_core.memory.memory_tool import MemoryTool
from agent_core.memory.recall.recall_tool import RecallTool
from agent_core.memory.soul_tool import ProposeSoulTool
from agent_core.schedule.job_editor import JobRules
from agent_core.schedule.requests import SCHEDULE_SPEC
from agent_core.schedule.resources import JobResources
from agent_core.skills.catalog import SkillCatalog
from agent_core.skills.tools.manage import SkillManageTool
from agent_core.skills.tools.search import SkillsSearchTool
from agent_core.skills.tools.view import SkillViewTool
from agent_core.tools.chat.group_titles import GroupTitlesTool
from agent_core.tools.chat.send_message import SendMessageTool
from agent_core.tools.chat.todo import TodoTool
from agent_core.tools.send_file import SendFileTool
from agent_core.tools.settings_tool import SettingsTool
from agent_core.tools.user_questions import AskTool
from agent_core.tools.workspace.catalog import WORKSPACE_TOOLS
from gateway.app.settings import Settings

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
    shared.append(GroupTitlesTool.spec.name)
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
        is_priced=lambda name: not find_unpriced(settings, name),
    )


def find_unpriced(settings: Settings, name: str) -> str:
    """Return the first model without a price among those that may answer for a job, or "".

    `name` is the job's model; if it is "" or no longer configured, the default one answers.
    """
    model = settings.model
    first = name if name and name in model.named else model.name
    used = (first, *model.fallbacks, model.cheap)
    return next((one for one in used if one and not settings.prices.find(one)), "")


def _find_fault(place: SkillCatalog, name: str) -> str:
    try:
        place.load(name)
    except (SkillMissing, SkillBroken) as error:
        return str(error)
    return ""
