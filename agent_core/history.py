"""Remembers what talking sessions have said, so that a turn reads only what is new to it."""

from collections import OrderedDict
from collections.abc import Sequence

from agent_core.ids import MessageId, SessionId
from agent_core.state.messages import START, StoredMessage

_MOST_MESSAGES = 20_000
"""Messages kept over all sessions, some 10 MB; what is let go of is read again when needed."""


class History:
    """The transcripts of the sessions that were used last. The database is the truth."""

    def __init__(self, most_messages: int = _MOST_MESSAGES) -> None:
        self._most = most_messages
        self._sessions: OrderedDict[SessionId, list[StoredMessage]] = OrderedDict()
        self._count = 0

    def newest(self, session_id: SessionId) -> MessageId:
        """The id of the last message that is remembered of a session, or `START`."""
        known = self._sessions.get(session_id)
        return known[-1].id if known else START

    def extend(
        self, session_id: SessionId, fresh: Sequence[StoredMessage]
    ) -> tuple[StoredMessage, ...]:
        """Add what was read behind `newest`; the whole transcript."""
        known = self._sessions.setdefault(session_id, [])
        known.extend(fresh)
        self._sessions.move_to_end(session_id)
        self._count += len(fresh)
        whole = tuple(known)
        while self._count > self._most:
            _, dropped = self._sessions.popitem(last=False)
            self._count -= len(dropped)
        return whole
