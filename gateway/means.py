"""What this house can lend to its jobs: its models, the tools of a job's turn, and skills."""

from functools import partial

from agent_core.archive.tool import ArchiveTool
from agent_core.digest.chart import ChartTool
from agent_core.digest.gather import GatherTool
from agent_core.errors import SkillBroken, SkillMissing
from agent_core.handing.tool import SendFileTool
from agent_core.memory.proposing import ProposeIdentity
from agent_core.memory.tool import MemoryTool
from agent_core.recall.tool import RecallTool
from agent_core.schedule.means import Means
from agent_core.schedule.planner import JobRules
from agent_core.schedule.requests import SPEC
from agent_core.skills.shelf import SkillShelf
from agent_core.tools.asking import AskTool
from agent_core.tools.settings import SettingsTool
from gateway.home import SKILLS
from gateway.settings import Settings

_OPEN = (MemoryTool, RecallTool, ArchiveTool, SendFileTool)
_PRIVATE = (SettingsTool, ProposeIdentity)
_GATHERING = (GatherTool, ChartTool)
_OUTSIDE = {"": (), "honcho": ("ask_memory",)}
"""Of each outside memory: its tools. Its room is opened by whoever talks to it only."""


def make_rules(settings: Settings) -> JobRules:
    """What the house allows."""
    jobs = settings.jobs
    return JobRules(
        per_person=jobs.per_person, least_minutes=jobs.least_minutes, means=_make_means(settings)
    )


def _make_means(settings: Settings) -> Means:
    model = settings.model
    open_tools = [tool.spec.name for tool in _OPEN]
    private = [tool.spec.name for tool in _PRIVATE]
    shared = [AskTool.spec.name, SPEC.name]
    gathering = [tool.spec.name for tool in _GATHERING]
    outside = _OUTSIDE[settings.memory.provider]
    shelf = SkillShelf(settings.home / SKILLS)
    return Means(
        models=tuple(dict.fromkeys(filter(None, (model.name, model.fallback, model.cheap)))),
        tools=(*open_tools, *private, *outside, *shared, *gathering),
        room_tools=(*open_tools, *shared, *gathering),
        fault_of_skill=partial(_find_fault, shelf),
    )


def _find_fault(shelf: SkillShelf, name: str) -> str:
    try:
        shelf.load(name)
    except (SkillMissing, SkillBroken) as error:
        return str(error)
    return ""
