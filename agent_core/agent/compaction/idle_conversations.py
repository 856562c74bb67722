"""The last calls of recent conversations, to find those that fell idle."""

from collections import OrderedDict
from dataclasses import dataclass

from agent_core.agent.compaction.requests import CompactionTarget
from agent_core.agent.compaction.token_meter import ContextBounds
from agent_core.ids import ConversationId, SessionId

_MOST = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class IdleConversation:
    """A conversation as its last call left it.

    `tokens` is the length of that call's request, `estimated` its plain estimate.
    """

    target: CompactionTarget
    conversation_id: ConversationId
    model: str
    tokens: int
    estimated: int
    bounds: ContextBounds


class IdleConversations:
    """The last calls of recent conversations; in memory only, because a cache is brief."""

    def __init__(self) -> None:
        self._last: OrderedDict[SessionId, tuple[int, IdleConversation]] = OrderedDict()

    def note(self, conversation: IdleConversation, now: int) -> None:
        """Note a call at a moment, in milliseconds since the epoch; it replaces the one before."""
        self._last[conversation.target.session_id] = (now, conversation)
        self._last.move_to_end(conversation.target.session_id)
        if len(self._last) > _MOST:
            self._last.popitem(last=False)

    def take(self, since: int, until: int) -> list[IdleConversation]:
        """Remove what was last called until a moment, and return what was called since another."""
        due = [key for key, (at, _) in self._last.items() if at <= until]
        taken = [self._last.pop(key) for key in due]
        return [one for at, one in taken if at > since]
