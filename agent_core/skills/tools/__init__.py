"""The tools of skills: read one, search them, and change the home's own."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

# mypy: implicit-reexport
if TYPE_CHECKING:
    from agent_core.skills.tools.directory import SkillDirectory
    from agent_core.skills.tools.manage import SkillManageTool
    from agent_core.skills.tools.scripts import TOOLS, SkillScripts, offers_scripts
    from agent_core.skills.tools.search import SkillsSearchTool
    from agent_core.skills.tools.toolset import make_skill_tools
    from agent_core.skills.tools.view import SkillViewTool
    from agent_core.skills.tools.workspace_copy import copy_files
else:
    __getattr__ = export_lazily(__name__, __file__)
