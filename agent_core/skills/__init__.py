"""Skills: instructions for recurring work, bundled with Talaria or in the home folder."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

if TYPE_CHECKING:
    from agent_core.skills.agreements import agree as agree
    from agent_core.skills.catalog import SKILL_FILE as SKILL_FILE
    from agent_core.skills.catalog import CatalogEntry as CatalogEntry
    from agent_core.skills.catalog import Collision as Collision
    from agent_core.skills.catalog import SkillCatalog as SkillCatalog
    from agent_core.skills.catalog import list_skill_folders as list_skill_folders
    from agent_core.skills.catalog import may_be_skill as may_be_skill
    from agent_core.skills.catalog import read_skill_folder as read_skill_folder
    from agent_core.skills.catalog import show_name as show_name
    from agent_core.skills.changes import has_written_all as has_written_all
    from agent_core.skills.changes import write_planned as write_planned
    from agent_core.skills.curator import CuratorReport as CuratorReport
    from agent_core.skills.curator import CuratorRules as CuratorRules
    from agent_core.skills.curator import CuratorView as CuratorView
    from agent_core.skills.curator import Step as Step
    from agent_core.skills.curator import StepKind as StepKind
    from agent_core.skills.curator import count_idle as count_idle
    from agent_core.skills.curator import hash_fault as hash_fault
    from agent_core.skills.curator import plan_steps as plan_steps
    from agent_core.skills.decline import Decline as Decline
    from agent_core.skills.decline import check_uses as check_uses
    from agent_core.skills.decline import judge_uses as judge_uses
    from agent_core.skills.decline import roll_back as roll_back
    from agent_core.skills.drafts import Drafts as Drafts
    from agent_core.skills.ledger_sync import FOUND as FOUND
    from agent_core.skills.ledger_sync import archive_skill as archive_skill
    from agent_core.skills.ledger_sync import inspect_skills as inspect_skills
    from agent_core.skills.ledger_sync import note_found as note_found
    from agent_core.skills.ledger_sync import note_loaded as note_loaded
    from agent_core.skills.ledger_sync import restore_skill as restore_skill
    from agent_core.skills.parser import Skill as Skill
    from agent_core.skills.parser import is_name as is_name
    from agent_core.skills.snapshots import is_whole as is_whole
    from agent_core.skills.states import CURATOR as CURATOR
    from agent_core.skills.states import find_payer as find_payer
    from agent_core.skills.states import read_states as read_states
    from agent_core.skills.undo import undo_skill_change as undo_skill_change
    from agent_core.skills.usage import SkillRecord as SkillRecord
    from agent_core.skills.usage import UsageFile as UsageFile
    from agent_core.skills.usage import list_records as list_records
else:
    __getattr__ = export_lazily(__name__, __file__)
