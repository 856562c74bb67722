"""The keys of conversations, one per chat, person or question."""

from adapters.ids import Address
from agent_core.ids import InboxId, PersonId
from agent_core.state.conversations import sessions
from agent_core.state.conversations.sessions import Conversation
from agent_core.state.people.people import Person

CONSOLE = "@console"
"""The name under which the console's pages act as a client; no token can have this name."""
HOUSEKEEPING = "#housekeeping-"
"""The beginning of the name of a conversation for a program's housekeeping; no program's own name
for a conversation can hold this.
"""


def name_own(platform: str, address: Address, person: Person) -> str:
    """Return the key of the conversation that a message belongs to.

    A direct conversation is the person's on every platform; a room has one for each person and
    thread.
    """
    if address.is_direct:
        return sessions.name_direct(person.id)
    return f"room:{platform}:{address.chat_id}:{address.thread_id or ''}:{person.id}"


def name_shared(platform: str, address: Address) -> str:
    """Return the key of the conversation that everybody in a room or thread shares."""
    return f"room:{platform}:{address.chat_id}:{address.thread_id or ''}:all"


def name_program(address: Address, person_id: PersonId) -> str:
    """Return the key of the conversation of a person's program, separate from their direct one."""
    return f"program:{address.chat_id}:{person_id}"


def is_of_pages(address: Address) -> bool:
    """Return whether an address of the API is that of a conversation on the console's pages."""
    return f"/{CONSOLE}/" in address.chat_id


def is_housekeeping(address: Address) -> bool:
    """Return whether an address of the API is that of a program's housekeeping."""
    return f"/{HOUSEKEEPING}" in address.chat_id


def name_aside(key: str, inbox_id: InboxId) -> str:
    """Return the key of the conversation of the side question that came with an event."""
    return f"aside:{inbox_id}:{key}"


def rename_conversation(conversation: Conversation, *, old: PersonId, new: PersonId) -> str:
    """Return a conversation's key after it moved to another person.

    The key ends in the person's id, as all keys here do; the key of a job's
    conversation in a room ends in the room's. Some from before 2026-11-22 end in both.
    """
    key, words = conversation.key, conversation.key.split(":")
    if conversation.kind == "job" and words[2] == str(old):
        return ":".join((*words[:2], str(new), *words[3:]))
    return f"{key.removesuffix(f':{old}')}:{new}"
