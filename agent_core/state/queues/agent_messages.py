"""Queries over messages between agents, their background tasks, and the ends of these tasks.

Each of them is an event of the inbox. The event holds no text: the text is in the tool call that
sent it, in the sender's transcript, or in the answer to a task.
"""

import json
from dataclasses import asdict, dataclass, replace
from typing import Literal

from agent_core.ids import CallId, PersonId, RoomId, TurnId
from agent_core.state.engine.database import Connection
from agent_core.state.queues import inbox
from agent_core.transcript import ToolCallPart, load_parts

AGENT_EVENTS = "agents"
"""The platform of these events in the inbox."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentMessage:
    """A message to an agent. `chain` are the agents through which it came, the sender last.

    A `task` is for a helper without a name: the task of this `number` in the call. An `end` reports
    to the sender that the turn `ended_id` has finished a task. `base` is the key of the
    conversation beside which the recipient has its own; both belong to `owner_id`, a person or a
    room. `person_id` asks and pays.
    """

    turn_id: TurnId
    call_id: CallId
    agent: str
    chain: tuple[str, ...]
    base: str
    owner_id: PersonId
    person_id: PersonId
    is_private: bool
    room_id: RoomId | None
    is_tainted: bool
    """True if the sender had read words of others, which the message may pass on."""
    kind: Literal["tell", "task", "end"] = "tell"
    number: int = 0
    ended_id: TurnId | None = None

    @property
    def event_id(self) -> str:
        """The id of the message's event; a repetition of the same call or end has the same id."""
        if self.kind == "end":
            return f"end:{self.ended_id}"
        return f"{self.turn_id}:{self.call_id}{f':{self.number}' if self.number else ''}"


def send(connection: Connection, message: AgentMessage, *, now: int) -> bool:
    """Store a message; a repetition of the same call changes nothing and returns False."""
    events = [(message.event_id, json.dumps(asdict(message)))]
    return bool(inbox.store(connection, platform=AGENT_EVENTS, events=events, now=now))


def read(payload: str) -> AgentMessage:
    """Build the message from the payload of its event."""
    values = json.loads(payload)
    return AgentMessage(**{**values, "chain": tuple(values["chain"])})


def count_of_turn(connection: Connection, *, turn_id: TurnId) -> int:
    """Count the messages that a turn has sent to agents."""
    row = connection.execute(
        "SELECT COUNT(*) FROM inbox WHERE platform = :platform AND event_id >= :first"
        " AND event_id < :last",
        {"platform": AGENT_EVENTS, "first": f"{turn_id}:", "last": f"{turn_id};"},
    ).fetchone()
    return int(row[0])


def find_chain(connection: Connection, *, turn_id: TurnId) -> tuple[str, ...]:
    """Return the agents whose messages led to a running turn; none if a person started it."""
    message = _find_claimed(connection, turn_id)
    return message.chain if message else ()


def end_task(connection: Connection, *, turn_id: TurnId, now: int) -> None:
    """Report to the sender of a task that the turn which works on it ends now."""
    task = _find_claimed(connection, turn_id)
    if task and task.kind == "task":
        # An agent that continues because of this report is one step further from the person's turn.
        chain = (*task.chain, task.chain[-1])
        send(connection, replace(task, kind="end", ended_id=turn_id, chain=chain), now=now)


def _find_claimed(connection: Connection, turn_id: TurnId) -> AgentMessage | None:
    rows = inbox.list_claimed(connection, turn_id=turn_id)
    return next((read(row.payload) for row in rows if row.platform == AGENT_EVENTS), None)


def find_call(
    connection: Connection, *, message: AgentMessage, person_id: PersonId
) -> ToolCallPart | None:
    """Return the call that sent a message; None if it was redacted since."""
    rows = connection.execute(
        "SELECT parts, text FROM messages WHERE turn_id = :turn_id AND person_id = :person_id"
        " AND role = 'assistant' ORDER BY id",
        {"turn_id": message.turn_id, "person_id": person_id},
    ).fetchall()
    found = [part for parts, text in rows for part in load_parts(parts, text)]
    calls = (part for part in found if isinstance(part, ToolCallPart))
    return next((call for call in calls if call.call_id == message.call_id), None)
