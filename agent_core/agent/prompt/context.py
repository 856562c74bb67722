"""Who asks in which talk, and where: what decides who may see and remember what."""

from dataclasses import dataclass

from agent_core.state.conversations.messages import PRIVATE
from agent_core.state.conversations.sessions import Conversation
from agent_core.state.people.people import Person
from agent_core.state.people.rooms import Room
from agent_core.tools.contract import MemoryOwner


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptContext:
    """One turn's surroundings. `person` is who asks, and pays; `room` is None in a direct talk.

    A conversation that is private and yet in a room is a person's whole talk, going on there.
    """

    conversation: Conversation
    person: Person
    room: Room | None
    platform: str

    @property
    def is_shared(self) -> bool:
        """True if the talk is that of everyone in the room."""
        return self.conversation.person_id != self.person.id

    @property
    def audience(self) -> str:
        """Who may see what is said: a talk that goes on in a room stays its person's own."""
        if self.conversation.is_private or self.room is None:
            return PRIVATE
        return self.room.audience

    @property
    def memory_owner(self) -> MemoryOwner | None:
        """Whose memory may be changed: in a room the room's, else the person's."""
        if self.conversation.is_private and not self.is_shared:
            return MemoryOwner(person_id=self.person.id, slug=self.person.slug)
        if self.room is None:
            return None
        return MemoryOwner(person_id=self.room.person_id, slug=self.room.slug, kind="room")
