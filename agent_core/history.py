"""Remembers what talking sessions have said, so that a turn reads only what is new to it."""

from collections import OrderedDict
from dataclasses import dataclass

from agent_core.ids import ConversationId, SessionId
from agent_core.state.messages import StoredMessage
from agent_core.state.sessions import Session
from agent_core.transcript import ImagePart, Message, Part, RawPart, ToolCallPart

_MOST_WEIGHT = 16_000_000
"""Bytes, about, kept over all sessions; what is let go of is read again when needed."""
_OBJECTS = 500
"""Bytes that a message takes besides its words."""
_MOST_TALKS = 4096


@dataclass(frozen=True, slots=True)
class _Kept:
    transcript: tuple[StoredMessage, ...]
    weight: int


class History:
    """The transcripts of the sessions that were used last. The database is the truth.

    A transcript is handed out and taken back whole: what is let go of in between takes
    nothing from whoever is about to add to it.
    """

    def __init__(self, most_weight: int = _MOST_WEIGHT) -> None:
        self._most = most_weight
        self._sessions: OrderedDict[SessionId, _Kept] = OrderedDict()
        self._weight = 0
        self._open: OrderedDict[ConversationId, Session] = OrderedDict()

    def recall(self, session_id: SessionId) -> tuple[StoredMessage, ...]:
        """What is remembered of a session: its beginning up to some message, or nothing."""
        kept = self._sessions.get(session_id)
        return kept.transcript if kept else ()

    def keep(self, session_id: SessionId, transcript: tuple[StoredMessage, ...]) -> None:
        """Remember a session's transcript, which goes on from what was recalled of it."""
        old = self._sessions.pop(session_id, _Kept((), 0))
        fresh = transcript[len(old.transcript) :]
        kept = _Kept(transcript, old.weight + sum(_weigh(stored.message) for stored in fresh))
        self._sessions[session_id] = kept
        self._weight += kept.weight - old.weight
        while self._weight > self._most:
            _, dropped = self._sessions.popitem(last=False)
            self._weight -= dropped.weight

    def leave(
        self,
        conversation_id: ConversationId,
        session: Session,
        transcript: tuple[StoredMessage, ...],
    ) -> None:
        """Remember a talk as its last turn left it, with all that its open session holds."""
        self.keep(session.id, transcript)
        self._open[conversation_id] = session
        if len(self._open) > _MOST_TALKS:
            self._open.popitem(last=False)

    def enter(
        self, conversation_id: ConversationId
    ) -> tuple[Session, tuple[StoredMessage, ...]] | None:
        """A talk as it was left; it has to be left anew before it can be entered again.

        What happened to it since, beside the turns, is not in it.
        """
        session = self._open.pop(conversation_id, None)
        transcript = self.recall(session.id) if session else ()
        return (session, transcript) if session and transcript else None

    def forget_words(self) -> None:
        """Transcripts may not hold what they held: nothing is remembered of them."""
        self._open.clear()
        self._sessions.clear()
        self._weight = 0

    def forget_talks(self) -> None:
        """Talks may not be as they were left."""
        self._open.clear()


def _weigh(message: Message) -> int:
    return _OBJECTS + sum(len(_content(part)) for part in message.parts)


def _content(part: Part) -> str:
    if isinstance(part, ToolCallPart):
        return part.arguments
    if isinstance(part, ImagePart):
        return part.file_key
    return part.payload if isinstance(part, RawPart) else part.text
