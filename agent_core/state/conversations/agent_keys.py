"""The keys of the conversations of named agents.

An agent has a conversation of its own beside each conversation of a person or a room: its key is
theirs behind its own name. So it belongs to one person or room, like the one beside it.
"""

from agent_core.ids import CallId, PersonId, TurnId
from agent_core.state.conversations.sessions import HELPERS, TASKS

_AGENT = "agent"
_ASIDE = "aside"


def name_conversation(agent: str, key: str) -> str:
    """Return the key of an agent's conversation beside another one; "" is the assistant itself."""
    return f"{_AGENT}:{agent}:{key}" if agent else key


def name_direct(person_id: PersonId) -> str:
    """Return the key of a person's direct conversation."""
    return f"direct:{person_id}"


def is_direct(key: str) -> bool:
    """Return whether a key is that of a person's direct conversation, with any agent."""
    return strip_agent(key).startswith("direct:")


def name_task(turn_id: TurnId, call_id: CallId, number: int) -> str:
    """Return the key of the conversation of a helper that works in the background."""
    return f"{TASKS}{turn_id}:{number}:{call_id}"


def is_task(key: str) -> bool:
    """Return whether a key is that of a helper that works in the background."""
    return key.startswith(TASKS)


def find_agent(key: str) -> str:
    """Return the agent whose conversation a key names; "" for the assistant itself.

    A side question belongs to the agent that it was asked of, and an asked agent is in the key of
    a helper; see `delegated_turns.name_helper`.
    """
    kind, _, rest = key.partition(":")
    if kind == _AGENT:
        return rest.partition(":")[0]
    if kind == _ASIDE:
        return find_agent(rest.partition(":")[2])
    if key.startswith(HELPERS):
        return key.split(":", 3)[2].partition("/")[2]
    return ""


def strip_agent(key: str) -> str:
    """Return the key of the conversation that an agent's conversation is beside; else the key."""
    return key.split(":", 2)[2] if key.startswith(f"{_AGENT}:") else key


def strip_all(key: str) -> str:
    """Return the key of the conversation behind that of an agent, or of a side question to it."""
    kind, _, rest = key.partition(":")
    return strip_agent(rest.partition(":")[2] if kind == _ASIDE else key)
