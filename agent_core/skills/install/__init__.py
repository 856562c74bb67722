"""Installation of skills: sources and hubs, a scan, and the versions of a skill."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

if TYPE_CHECKING:
    from agent_core.skills.install.contract import Finding as Finding
    from agent_core.skills.install.contract import ScanReport as ScanReport
    from agent_core.skills.install.contract import SkillSource as SkillSource
    from agent_core.skills.install.contract import StagedSkill as StagedSkill
    from agent_core.skills.install.installs import SkillVersion as SkillVersion
    from agent_core.skills.install.installs import is_installed as is_installed
    from agent_core.skills.install.installs import list_versions as list_versions
    from agent_core.skills.install.installs import plan_install as plan_install
    from agent_core.skills.install.installs import plan_rollback as plan_rollback
    from agent_core.skills.install.installs import record_version as record_version
    from agent_core.skills.install.scan import scan_skill as scan_skill
    from agent_core.skills.install.sources import open_source as open_source
    from agent_core.skills.install.stage import INCOMING as INCOMING
    from agent_core.skills.install.stage import clear_incoming as clear_incoming
    from agent_core.skills.install.stage import find_staged as find_staged
    from agent_core.skills.install.stage import stage_skill as stage_skill
    from agent_core.skills.install.stage import walk as walk
    from agent_core.skills.install.stage import write_copy as write_copy
else:
    __getattr__ = export_lazily(__name__, __file__)
