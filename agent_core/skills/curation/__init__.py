"""The curator's judgement: snapshots, and a model's proposals to merge skills or tidy memory."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

if TYPE_CHECKING:
    from agent_core.skills.curation.looks import enqueue_looks as enqueue_looks
    from agent_core.skills.curation.looks import enqueue_memory_look as enqueue_memory_look
    from agent_core.skills.curation.looks import list_known_groups as list_known_groups
    from agent_core.skills.curation.looks import list_memory as list_memory
    from agent_core.skills.curation.looks import list_records as list_records
    from agent_core.skills.curation.looks import list_visible as list_visible
    from agent_core.skills.curation.merging import apply_merge as apply_merge
    from agent_core.skills.curation.merging import choose_texts as choose_texts
    from agent_core.skills.curation.merging import hash_texts as hash_texts
    from agent_core.skills.curation.merging import make_merge_request as make_merge_request
    from agent_core.skills.curation.merging import read_merges as read_merges
    from agent_core.skills.curation.record import CurationRecord as CurationRecord
    from agent_core.skills.curation.record import Merge as Merge
    from agent_core.skills.curation.record import Proposal as Proposal
    from agent_core.skills.curation.record import ProposalState as ProposalState
    from agent_core.skills.curation.record import StoredRecord as StoredRecord
    from agent_core.skills.curation.record import Tidying as Tidying
    from agent_core.skills.curation.record import dump_record as dump_record
    from agent_core.skills.curation.record import list_open as list_open
    from agent_core.skills.curation.record import load_record as load_record
    from agent_core.skills.curation.snapshot import RestoredSnapshot as RestoredSnapshot
    from agent_core.skills.curation.snapshot import list_snapshots as list_snapshots
    from agent_core.skills.curation.snapshot import restore_snapshot as restore_snapshot
    from agent_core.skills.curation.snapshot import take_snapshot as take_snapshot
    from agent_core.skills.curation.tidying import LEAST_ENTRIES as LEAST_ENTRIES
    from agent_core.skills.curation.tidying import make_edits as make_edits
    from agent_core.skills.curation.tidying import make_tidy_request as make_tidy_request
    from agent_core.skills.curation.tidying import read_tidyings as read_tidyings
else:
    __getattr__ = export_lazily(__name__, __file__)
