"""The curator's judgement: snapshots, and proposals of a model to merge skills or tidy memory."""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

# mypy: implicit-reexport
if TYPE_CHECKING:
    from agent_core.skills.curation.looks import (
        enqueue_looks,
        enqueue_memory_look,
        list_known_groups,
        list_memory,
        list_records,
        list_visible,
    )
    from agent_core.skills.curation.merging import (
        apply_merge,
        choose_texts,
        hash_texts,
        make_merge_request,
        read_merges,
    )
    from agent_core.skills.curation.record import (
        CurationRecord,
        Merge,
        Proposal,
        ProposalState,
        StoredRecord,
        Tidying,
        dump_record,
        list_open,
        load_record,
    )
    from agent_core.skills.curation.snapshot import (
        RestoredSnapshot,
        list_snapshots,
        restore_snapshot,
        take_snapshot,
    )
    from agent_core.skills.curation.tidying import (
        LEAST_ENTRIES,
        make_edits,
        make_tidy_request,
        read_tidyings,
    )
else:
    __getattr__ = export_lazily(__name__, __file__)
