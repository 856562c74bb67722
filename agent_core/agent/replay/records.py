"""Read the record of one turn, from which its requests are rebuilt."""

from collections.abc import Mapping
from dataclasses import dataclass

from agent_core.agent.prompt.prompt_cache import FrozenPrompt, freeze, load_tools
from agent_core.agent.prompt.visibility import PromptContext
from agent_core.agent.resumed_turn import list_results
from agent_core.errors import StoreDamaged
from agent_core.ids import CallId, PromptHash, TurnId
from agent_core.models.images import choose
from agent_core.state.conversations import compactions, files, messages, sessions, turns, usage
from agent_core.state.conversations.compactions import Compaction
from agent_core.state.conversations.messages import StoredMessage
from agent_core.state.conversations.sessions import Conversation
from agent_core.state.conversations.turns import StoredTurn
from agent_core.state.conversations.usage import ModelCall
from agent_core.state.engine.database import Connection
from agent_core.state.jobs import job_history
from agent_core.state.people import people, rooms
from agent_core.tools.contract import ToolResult

ANSWERS = "turn"
"""The purpose of a turn's own calls; other calls are made on its behalf."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRecord:
    """A turn as it is stored.

    `transcript` is its session up to the turn's end; the last `own` messages belong to the turn.
    `prompt` is None if it was redacted or altered since. `forgotten` counts the redacted messages
    of the transcript; `images` are the keys of images that still exist.
    """

    turn: StoredTurn
    conversation: Conversation
    prompt: FrozenPrompt | None
    transcript: tuple[StoredMessage, ...]
    own: int
    compactions: tuple[Compaction, ...]
    calls: tuple[ModelCall, ...]
    results: Mapping[CallId, ToolResult]
    images: frozenset[str]
    forgotten: int
    is_by_job: bool
    """True for a message that a job sent without a model."""

    @property
    def said(self) -> tuple[StoredMessage, ...]:
        """The messages that the turn added, the person's first."""
        return self.transcript[len(self.transcript) - self.own :]


def read_record(connection: Connection, turn_id: TurnId) -> TurnRecord | None:
    """Read a turn's record; None if it doesn't exist. Raises `StoreDamaged`."""
    turn = turns.find(connection, turn_id=turn_id)
    if turn is None:
        return None
    conversation = sessions.get_conversation(
        connection, conversation_id=turn.conversation_id, person_id=turn.person_id
    )
    owner = conversation.person_id
    whole = messages.list_session(connection, session_id=turn.session_id, person_id=owner)
    places = [place for place, stored in enumerate(whole, start=1) if stored.turn_id == turn.id]
    transcript = tuple(whole[: places[-1]] if places else ())
    spent = usage.list_of_turn(connection, turn_id=turn.id)
    keys = choose(stored.message for stored in transcript)
    return TurnRecord(
        turn=turn,
        conversation=conversation,
        prompt=read_frozen_prompt(connection, turn.prompt_hash),
        transcript=transcript,
        own=len(places),
        compactions=tuple(
            compactions.list_of_session(connection, session_id=turn.session_id, person_id=owner)
        ),
        calls=tuple(call for call in spent if call.purpose == ANSWERS),
        results=list_results(turns.list_steps(connection, turn_id=turn.id)),
        images=frozenset(key for key in keys if files.exists(connection, key=key)),
        forgotten=messages.count_forgotten(connection, session_id=turn.session_id, person_id=owner),
        is_by_job=_is_by_job(connection, turn),
    )


def _is_by_job(connection: Connection, turn: StoredTurn) -> bool:
    said = job_history.find(connection, turn_id=turn.id, person_id=turn.person_id)
    # The address is empty if the turn's person was erased.
    return said is not None and turn.place.chat.address != ""


def read_prompt_context(connection: Connection, record: TurnRecord) -> PromptContext | None:
    """The turn's context with today's data; None if its person was deleted."""
    person = people.find(connection, person_id=record.turn.person_id)
    room_id = record.conversation.room_id
    room = None if room_id is None else rooms.find_by_id(connection, room_id=room_id)
    if person is None:
        return None
    return PromptContext(
        conversation=record.conversation,
        person=person,
        room=room,
        platform=record.turn.place.chat.platform,
    )


def read_frozen_prompt(
    connection: Connection, prompt_hash: PromptHash | None
) -> FrozenPrompt | None:
    """Read a prompt; None if there is none, or it was deleted or altered."""
    if prompt_hash is None:
        return None
    try:
        system, tools, _ = sessions.get_prompt(connection, prompt_hash=prompt_hash)
    except StoreDamaged:
        return None
    prompt = freeze(system, load_tools(tools))
    return prompt if prompt.hash == prompt_hash else None
