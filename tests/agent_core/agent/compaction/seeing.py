"""A talk as a call saw it, from all its folds."""

from collections.abc import Sequence

from agent_core.agent.compaction.compacted_view import find_compaction
from agent_core.agent.compaction.compactor import apply_compaction
from agent_core.state.conversations.compactions import Compaction
from agent_core.state.conversations.messages import StoredMessage
from agent_core.transcript import Message


def view(stored: Sequence[StoredMessage], compactions: Sequence[Compaction]) -> tuple[Message, ...]:
    """The messages of a call whose newest message is the last of `stored`."""
    return apply_compaction(stored, find_compaction(stored, compactions))
