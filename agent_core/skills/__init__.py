"""Skills: instructions for recurring work, bundled with Talaria or in the home folder."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

# mypy: implicit-reexport
if TYPE_CHECKING:
    from agent_core.skills.agreements import agree
    from agent_core.skills.catalog import (
        SKILL_FILE,
        CatalogEntry,
        Collision,
        SkillCatalog,
        list_skill_folders,
        read_skill_folder,
        show_name,
    )
    from agent_core.skills.changes import has_written_all, write_planned
    from agent_core.skills.curator import (
        CuratorReport,
        CuratorRules,
        CuratorView,
        Step,
        StepKind,
        count_idle,
        hash_fault,
        plan_steps,
    )
    from agent_core.skills.decline import Decline, check_uses, judge_uses, roll_back
    from agent_core.skills.drafts import Drafts
    from agent_core.skills.ledger_sync import (
        FOUND,
        archive_skill,
        inspect_skills,
        note_found,
        note_loaded,
        restore_skill,
    )
    from agent_core.skills.parser import Skill, is_name
    from agent_core.skills.snapshots import is_whole
    from agent_core.skills.states import CURATOR, find_payer, read_states
    from agent_core.skills.undo import undo_skill_change
    from agent_core.skills.usage import SkillRecord, UsageFile, list_records
else:
    __getattr__ = export_lazily(__name__, __file__)
