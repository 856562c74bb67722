"""Draw cases from a person's earlier requests, and read a case as it was recorded."""

from collections.abc import Sequence
from dataclasses import dataclass

from agent_core.ids import PersonId, TurnId
from agent_core.state.conversations import messages, turns
from agent_core.state.conversations.messages import StoredMessage
from agent_core.state.engine.database import Connection
from agent_core.state.memory import skill_uses
from agent_core.state.queues import reviews
from agent_core.tools.selection.ranking import WordIndex
from agent_core.transcript import Message, TextPart, ToolCallPart, ToolResultPart

MOST_DRAWN = 5
"""The most cases that are drawn for a skill: each is replayed twice, which costs money."""
_LOOK_BACK = 400
"""The person's newest messages that are searched for similar requests."""
_MOST_CONTEXT = 6
"""Messages before a request that its replay sees, so that "and now the other one" makes sense."""
_WRITERS = frozenset(("skill_manage",))


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """A recorded turn: earlier messages, the request, its answer, and the results of its calls.

    The results are keyed by tool and arguments.
    """

    context: tuple[Message, ...]
    request: str
    answer: str
    results: dict[tuple[str, str], ToolResultPart]


def draw_cases(
    connection: Connection,
    *,
    skill_id: int,
    person_id: PersonId,
    about: str,
) -> list[TurnId]:
    """Choose turns of a person that a skill should do well: first its uses, then similar requests.

    `about` describes the skill. Skips the turns that wrote the skill.
    """
    used = skill_uses.list_good_turns(connection, skill_id=skill_id, person_id=person_id)
    said = reviews.list_said(
        connection,
        person_id=person_id,
        after=TurnId(0),
        until=turns.find_newest(connection),
        limit=_LOOK_BACK,
    )
    own = [one for one in said if one.is_own]
    index = WordIndex([(str(one.id), one.text) for one in own])
    similar = [own[number].turn_id for number in index.rank(about)]
    chosen: list[TurnId] = []
    for turn_id in dict.fromkeys((*used, *similar)):
        if len(chosen) == MOST_DRAWN:
            break
        turn = turns.find(connection, turn_id=turn_id)
        steps = turns.list_steps(connection, turn_id=turn_id)
        wrote = any(step.name in _WRITERS for step in steps)
        if turn and turn.state == "answered" and not wrote:
            chosen.append(turn_id)
    return chosen


def load_recorded(
    connection: Connection, *, turn_id: TurnId, person_id: PersonId
) -> Recorded | None:
    """Read a recorded turn; None if it is another person's, or its words were deleted by `/forget`.

    Raises `StoreDamaged`.
    """
    turn = turns.find_of_person(connection, turn_id=turn_id, person_id=person_id)
    if turn is None:
        return None
    request = messages.request_of_turn(connection, turn_id=turn_id, person_id=person_id)
    answer = messages.answer_of_turn(connection, turn_id=turn_id, person_id=person_id)
    if not request.strip() or not answer.strip():
        return None
    whole = messages.list_session(connection, session_id=turn.session_id, person_id=person_id)
    before = [one for one in whole if one.turn_id < turn_id and one.message.text.strip()]
    return Recorded(
        context=tuple(_keep_text(one.message) for one in before[-_MOST_CONTEXT:]),
        request=request,
        answer=answer,
        results=_list_results([one for one in whole if one.turn_id == turn_id]),
    )


def _keep_text(message: Message) -> Message:
    """Return a message without its calls, files and pictures; their results are not repeated."""
    return Message(
        role="assistant" if message.role == "assistant" else "user",
        parts=(TextPart(text=message.text),),
    )


def _list_results(own: Sequence[StoredMessage]) -> dict[tuple[str, str], ToolResultPart]:
    parts = [part for stored in own for part in stored.message.parts]
    calls = {part.call_id: part for part in parts if isinstance(part, ToolCallPart)}
    return {
        (calls[part.call_id].name, calls[part.call_id].arguments): part
        for part in parts
        if isinstance(part, ToolResultPart) and part.call_id in calls
    }
