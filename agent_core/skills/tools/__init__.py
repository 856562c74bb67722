"""The tools of skills: read one, search them, and change the home's own."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

if TYPE_CHECKING:
    from agent_core.skills.tools.directory import SkillDirectory as SkillDirectory
    from agent_core.skills.tools.manage import SkillManageTool as SkillManageTool
    from agent_core.skills.tools.scripts import TOOLS as TOOLS
    from agent_core.skills.tools.scripts import SkillScripts as SkillScripts
    from agent_core.skills.tools.scripts import offers_scripts as offers_scripts
    from agent_core.skills.tools.search import SkillsSearchTool as SkillsSearchTool
    from agent_core.skills.tools.toolset import make_skill_tools as make_skill_tools
    from agent_core.skills.tools.view import SkillViewTool as SkillViewTool
    from agent_core.skills.tools.workspace_copy import copy_files as copy_files
else:
    __getattr__ = export_lazily(__name__, __file__)
