"""Opens the folder of named agents, and tells it which models, tools and skills exist."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from agent_core.agent.id_allocator import IdAllocator
from agent_core.agent.named.agent_files import AgentFiles
from agent_core.agent.named.definition import KnownNames
from agent_core.agent.named.editor import AgentEditor
from agent_core.agent.named.folder import AgentFolder
from agent_core.agent.named.teams import TeamFolder
from agent_core.skills.catalog import SkillCatalog
from agent_core.state.engine.database import Database
from agent_core.tools.selection.built_in import BUILT_IN
from gateway.app.external_plugins import ExternalPlugins
from gateway.app.settings import Settings


def make_agent_folder(settings: Settings, tools: Sequence[str]) -> AgentFolder:
    """Build the folder of named agents; `tools` are the names of plug-ins' tools."""
    skills = SkillCatalog(*settings.skill_places)
    known = KnownNames(models=settings.model.named, tools=(*sorted(BUILT_IN), *tools))
    return AgentFolder(settings.home, known, lambda name: skills.load(name).body, skills.is_bundled)


def make_editor(
    home: Path,
    database: Database,
    agents: AgentFolder,
    now: Callable[[], int],
    load_ids: Callable[[], Awaitable[IdAllocator]],
    forget_known: Callable[[], None] = lambda: None,
) -> AgentEditor:
    """Build what changes named agents and teams."""
    return AgentEditor(
        database=database,
        files=AgentFiles(agents),
        teams=TeamFolder(home, agents),
        now=now,
        load_ids=load_ids,
        forget_known=forget_known,
    )


def open_agent_folder(settings: Settings) -> AgentFolder:
    """Build the folder of named agents for a command, and load the enabled plug-ins.

    Raises `StartError` if a plug-in is broken.
    """
    tools = ExternalPlugins(settings).load_tools() if settings.plugins.enabled else ()
    return make_agent_folder(settings, [tool.spec.name for tool in tools])
