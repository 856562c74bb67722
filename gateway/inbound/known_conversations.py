"""The conversations of recent messages, kept in memory."""

from collections import OrderedDict
from collections.abc import Callable

from agent_core.state.conversations import sessions
from agent_core.state.conversations.sessions import Conversation
from agent_core.state.engine.database import Database
from gateway.people.rooms import RoomConversation

_MOST_CONVERSATIONS = 4096


class KnownConversations:
    """Finds the conversation of a message without a read of the store, if it is a recent one."""

    def __init__(self, database: Database, now: Callable[[], int]) -> None:
        self._database = database
        self._now = now
        self._known: OrderedDict[str, Conversation] = OrderedDict()

    async def find(self, room_conversation: RoomConversation) -> Conversation:
        """Return the conversation of this key; create it if it is new. Raises `StoreError`."""
        known = self._known.get(room_conversation.key)
        if known is None:
            now = self._now()
            known = await self._database.write(
                "conversations.ensure",
                sessions.ensure_conversation,
                sessions.NewConversation(
                    key=room_conversation.key,
                    kind=room_conversation.kind,
                    agent=room_conversation.agent,
                    person_id=room_conversation.owner_id,
                    is_direct=room_conversation.is_direct,
                    room_id=room_conversation.room_id_of,
                ),
                now=now,
            )
            self._known[room_conversation.key] = known
            if len(self._known) > _MOST_CONVERSATIONS:
                self._known.popitem(last=False)
        return known

    def forget_known(self) -> None:
        """Drop the cache."""
        self._known.clear()
