"""Number turns and sessions before they are inserted."""

from agent_core.ids import SessionId, TurnId


class IdAllocator:
    """Allocates the ids of turns and sessions before they are inserted.

    Safe because a single process owns the database. An unused id leaves a gap, or is allocated
    again after a restart.
    """

    def __init__(self, turn_id: TurnId, session_id: SessionId) -> None:
        """Continue after the last ids in the database."""
        self._turn_id = turn_id
        self._session_id = session_id

    def next_turn(self) -> TurnId:
        """Allocate and return the next turn id."""
        self._turn_id = TurnId(self._turn_id + 1)
        return self._turn_id

    def next_session(self) -> SessionId:
        """Allocate and return the next session id."""
        self._session_id = SessionId(self._session_id + 1)
        return self._session_id

    def skip(self, used: "IdAllocator") -> None:
        """Skip the ids that another allocator has allocated, because a command opened a branch."""
        self._turn_id = max(self._turn_id, used._turn_id)
        self._session_id = max(self._session_id, used._session_id)
