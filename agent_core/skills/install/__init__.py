"""Installation of skills: sources and hubs, a scan, and the versions of a skill."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

# mypy: implicit-reexport
if TYPE_CHECKING:
    from agent_core.skills.install.contract import Finding, ScanReport, SkillSource, StagedSkill
    from agent_core.skills.install.installs import (
        SkillVersion,
        is_installed,
        list_versions,
        plan_install,
        plan_rollback,
        record_version,
    )
    from agent_core.skills.install.scan import scan_skill
    from agent_core.skills.install.sources import open_source
    from agent_core.skills.install.stage import (
        INCOMING,
        clear_incoming,
        find_staged,
        stage_skill,
        walk,
        write_copy,
    )
else:
    __getattr__ = export_lazily(__name__, __file__)
