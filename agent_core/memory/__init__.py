"""Curated memory: short lists of notes that are always in the prompt.

The ledger in the database is the source of truth; two Markdown files per person mirror it.
"""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

# mypy: implicit-reexport
if TYPE_CHECKING:
    from agent_core.memory.approval import PATIENCE, Approval, fence, show_difference
    from agent_core.memory.archive.conclusions import (
        MOST_STANDING,
        Conclusion,
        LocalUserModel,
        Premise,
        insert_conclusion,
        list_conclusions,
        list_premises,
        withdraw_fallen,
    )
    from agent_core.memory.archive.entries import Content as ArchiveContent
    from agent_core.memory.archive.entries import format_archive_id
    from agent_core.memory.archive.entries import format_entry as format_archive_entry
    from agent_core.memory.archive.history import (
        ArchiveHistory,
        ArchiveRef,
        explain_archive_entry,
        format_archive_change,
        list_archive_changes,
        load_archive_history,
        parse_archive_ref,
    )
    from agent_core.memory.archive.inventory import (
        MOST_COUNTED,
        Inventory,
        SearchableCounts,
        SearchScope,
        VisibleMessages,
    )
    from agent_core.memory.archive.search import search_archive
    from agent_core.memory.archive.tool import ArchiveTool
    from agent_core.memory.archive.undo import (
        ArchiveUndoFault,
        ArchiveUndoRefused,
        RestoredArchive,
        find_newest_archive_change,
        restore_archive,
        undo_archive_change,
    )
    from agent_core.memory.archive.writes import delete_entry, insert_entry
    from agent_core.memory.changes import Edit, Refusal
    from agent_core.memory.contract import (
        EntryDigest,
        Exchange,
        ExternalMemoryTool,
        ExternalPersonId,
        ExternalSessionId,
        MemoryProvider,
        MemorySnapshot,
    )
    from agent_core.memory.explanations import (
        ChangeName,
        ChangeStep,
        Explanation,
        Reader,
        SourceMessage,
        explain_entry,
    )
    from agent_core.memory.external.client import (
        ExternalMemory,
        ExternalMemoryOptions,
        ExternalMemoryStatus,
        SyncReport,
    )
    from agent_core.memory.external.contact import ProviderConnection, ProviderHealth, Pseudonyms
    from agent_core.memory.files import (
        ABSENT,
        find_flaw,
        fit,
        hash_text,
        read_file,
        render,
        write_file,
    )
    from agent_core.memory.merge import list_unmerged, merge_memories, merge_rest, split_memory
    from agent_core.memory.numbering import (
        ChangeIndex,
        NumberedEntry,
        find_current,
        list_entries,
        load_change_index,
    )
    from agent_core.memory.provenance import UnlinkedAccount, trace_row
    from agent_core.memory.shared import SharedList, SharedMemory
    from agent_core.memory.soul.proposal_tool import ProposeSoulTool
    from agent_core.memory.soul.soul import SOUL_TASK, SoulFile
    from agent_core.memory.store import MemoryLimits, MemoryStore, Snapshot
    from agent_core.memory.sync import (
        GROWTH_TASK,
        MemoryList,
        Oversize,
        find_list,
        find_oversize,
        replay_rows,
        scan_all,
    )
    from agent_core.memory.tool.tool import MemoryTool
    from agent_core.memory.undo import (
        UndoFault,
        UndoneChange,
        UndoRefused,
        find_newest_change,
        list_rows_up_to,
    )
else:
    __getattr__ = export_lazily(__name__, __file__)
