"""The curator's judgement: snapshots, and proposals of a model to merge skills or tidy memory."""

from agent_core.skills.curation.snapshot import (
    RestoredSnapshot,
    list_snapshots,
    restore_snapshot,
    take_snapshot,
)

__all__ = ["RestoredSnapshot", "list_snapshots", "restore_snapshot", "take_snapshot"]
