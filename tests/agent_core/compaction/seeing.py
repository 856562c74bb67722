"""A talk as a call saw it, from all its folds."""

from collections.abc import Sequence

from agent_core.compaction.view import find_fold, show_under
from agent_core.state.folds import Fold
from agent_core.state.messages import StoredMessage
from agent_core.transcript import Message


def view(stored: Sequence[StoredMessage], folds: Sequence[Fold]) -> tuple[Message, ...]:
    """The messages of a call whose newest message is the last of `stored`."""
    return show_under(stored, find_fold(stored, folds))
