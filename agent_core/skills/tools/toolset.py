"""The tools that read skills, in the order in which the model sees them."""

from collections.abc import Callable, Mapping

from agent_core.execution.contract import Backend
from agent_core.skills.tools.directory import SkillDirectory
from agent_core.skills.tools.search import SkillsSearchTool
from agent_core.skills.tools.view import SkillViewTool
from agent_core.state.engine.database import Database
from agent_core.tools.contract import Tool


def make_skill_tools(
    directory: SkillDirectory,
    database: Database,
    backend: Backend | None = None,
    *,
    find_name: Callable[[str], str],
    elsewhere: Mapping[str, Backend] | None = None,
) -> tuple[Tool, ...]:
    """Make the tools that read skills; with a `backend`, the skills' scripts can run there.

    `find_name` returns the name of the skill that a person's words start, or "". `elsewhere` are
    the backends of single skills; see `find_place`.
    """
    view = SkillViewTool(directory.catalog, database, backend, find_name, elsewhere)
    return view, SkillsSearchTool(directory)
