"""Curated memory: short lists of notes that are always in the prompt.

The ledger in the database is the source of truth; two Markdown files per person mirror it.
"""

from typing import TYPE_CHECKING

from agent_core.lazy_exports import export_lazily

if TYPE_CHECKING:
    from agent_core.memory.approval import PATIENCE as PATIENCE
    from agent_core.memory.approval import Approval as Approval
    from agent_core.memory.approval import fence as fence
    from agent_core.memory.approval import show_changes as show_changes
    from agent_core.memory.approval import show_difference as show_difference
    from agent_core.memory.archive.conclusions import MOST_STANDING as MOST_STANDING
    from agent_core.memory.archive.conclusions import Conclusion as Conclusion
    from agent_core.memory.archive.conclusions import LocalUserModel as LocalUserModel
    from agent_core.memory.archive.conclusions import Premise as Premise
    from agent_core.memory.archive.conclusions import insert_conclusion as insert_conclusion
    from agent_core.memory.archive.conclusions import list_conclusions as list_conclusions
    from agent_core.memory.archive.conclusions import list_premises as list_premises
    from agent_core.memory.archive.conclusions import withdraw_fallen as withdraw_fallen
    from agent_core.memory.archive.entries import ArchiveContent as ArchiveContent
    from agent_core.memory.archive.entries import format_archive_entry as format_archive_entry
    from agent_core.memory.archive.entries import format_archive_id as format_archive_id
    from agent_core.memory.archive.history import ArchiveHistory as ArchiveHistory
    from agent_core.memory.archive.history import ArchiveRef as ArchiveRef
    from agent_core.memory.archive.history import explain_archive_entry as explain_archive_entry
    from agent_core.memory.archive.history import format_archive_change as format_archive_change
    from agent_core.memory.archive.history import list_archive_changes as list_archive_changes
    from agent_core.memory.archive.history import load_archive_history as load_archive_history
    from agent_core.memory.archive.history import parse_archive_ref as parse_archive_ref
    from agent_core.memory.archive.inventory import MOST_COUNTED as MOST_COUNTED
    from agent_core.memory.archive.inventory import Inventory as Inventory
    from agent_core.memory.archive.inventory import SearchableCounts as SearchableCounts
    from agent_core.memory.archive.inventory import SearchScope as SearchScope
    from agent_core.memory.archive.inventory import VisibleMessages as VisibleMessages
    from agent_core.memory.archive.search import search_archive as search_archive
    from agent_core.memory.archive.tool import ArchiveTool as ArchiveTool
    from agent_core.memory.archive.undo import ArchiveUndoFault as ArchiveUndoFault
    from agent_core.memory.archive.undo import ArchiveUndoRefused as ArchiveUndoRefused
    from agent_core.memory.archive.undo import RestoredArchive as RestoredArchive
    from agent_core.memory.archive.undo import (
        find_newest_archive_change as find_newest_archive_change,
    )
    from agent_core.memory.archive.undo import restore_archive as restore_archive
    from agent_core.memory.archive.undo import undo_archive_change as undo_archive_change
    from agent_core.memory.archive.writes import delete_entry as delete_entry
    from agent_core.memory.archive.writes import insert_entry as insert_entry
    from agent_core.memory.changes import Edit as Edit
    from agent_core.memory.changes import Refusal as Refusal
    from agent_core.memory.changes import plan as plan
    from agent_core.memory.contract import EntryDigest as EntryDigest
    from agent_core.memory.contract import Exchange as Exchange
    from agent_core.memory.contract import ExternalMemoryTool as ExternalMemoryTool
    from agent_core.memory.contract import ExternalPersonId as ExternalPersonId
    from agent_core.memory.contract import ExternalSessionId as ExternalSessionId
    from agent_core.memory.contract import MemoryProvider as MemoryProvider
    from agent_core.memory.contract import MemorySnapshot as MemorySnapshot
    from agent_core.memory.explanations import ChangeName as ChangeName
    from agent_core.memory.explanations import ChangeStep as ChangeStep
    from agent_core.memory.explanations import Explanation as Explanation
    from agent_core.memory.explanations import Reader as Reader
    from agent_core.memory.explanations import SourceMessage as SourceMessage
    from agent_core.memory.explanations import explain_entry as explain_entry
    from agent_core.memory.explanations import find_basis as find_basis
    from agent_core.memory.external.client import ExternalMemory as ExternalMemory
    from agent_core.memory.external.client import ExternalMemoryOptions as ExternalMemoryOptions
    from agent_core.memory.external.client import ExternalMemoryStatus as ExternalMemoryStatus
    from agent_core.memory.external.client import SyncReport as SyncReport
    from agent_core.memory.external.contact import ProviderConnection as ProviderConnection
    from agent_core.memory.external.contact import ProviderHealth as ProviderHealth
    from agent_core.memory.external.contact import Pseudonyms as Pseudonyms
    from agent_core.memory.files import ABSENT as ABSENT
    from agent_core.memory.files import find_flaw as find_flaw
    from agent_core.memory.files import fit as fit
    from agent_core.memory.files import hash_text as hash_text
    from agent_core.memory.files import read_file as read_file
    from agent_core.memory.files import render as render
    from agent_core.memory.files import write_file as write_file
    from agent_core.memory.merge import list_unmerged as list_unmerged
    from agent_core.memory.merge import merge_memories as merge_memories
    from agent_core.memory.merge import merge_rest as merge_rest
    from agent_core.memory.merge import split_memory as split_memory
    from agent_core.memory.numbering import ChangeIndex as ChangeIndex
    from agent_core.memory.numbering import NumberedEntry as NumberedEntry
    from agent_core.memory.numbering import find_current as find_current
    from agent_core.memory.numbering import list_entries as list_entries
    from agent_core.memory.numbering import load_change_index as load_change_index
    from agent_core.memory.provenance import UnlinkedAccount as UnlinkedAccount
    from agent_core.memory.provenance import trace_row as trace_row
    from agent_core.memory.shared import SharedList as SharedList
    from agent_core.memory.shared import SharedMemory as SharedMemory
    from agent_core.memory.soul.proposal_tool import ProposeSoulTool as ProposeSoulTool
    from agent_core.memory.soul.soul import SOUL_TASK as SOUL_TASK
    from agent_core.memory.soul.soul import SoulFile as SoulFile
    from agent_core.memory.store import MemoryLimits as MemoryLimits
    from agent_core.memory.store import MemoryStore as MemoryStore
    from agent_core.memory.store import Snapshot as Snapshot
    from agent_core.memory.store import Stamp as Stamp
    from agent_core.memory.sync import GROWTH_TASK as GROWTH_TASK
    from agent_core.memory.sync import MemoryList as MemoryList
    from agent_core.memory.sync import Oversize as Oversize
    from agent_core.memory.sync import find_list as find_list
    from agent_core.memory.sync import find_oversize as find_oversize
    from agent_core.memory.sync import replay_rows as replay_rows
    from agent_core.memory.sync import scan_all as scan_all
    from agent_core.memory.tool.tool import MemoryTool as MemoryTool
    from agent_core.memory.undo import UndoFault as UndoFault
    from agent_core.memory.undo import UndoneChange as UndoneChange
    from agent_core.memory.undo import UndoRefused as UndoRefused
    from agent_core.memory.undo import find_newest_change as find_newest_change
    from agent_core.memory.undo import list_rows_up_to as list_rows_up_to
else:
    __getattr__ = export_lazily(__name__, __file__)
