"""The answer of a turn as a program reads it: its words, and the calls that the program runs."""

from dataclasses import dataclass
from http import HTTPStatus
from typing import Literal

from agent_core.agent.loop.answer_form import unwrap_json
from agent_core.agent.wishes import ProgramWishes
from agent_core.errors import StoreDamaged
from agent_core.events import PASSED
from agent_core.ids import PersonId, TurnId
from agent_core.state.conversations import messages, private_history, turns, usage
from agent_core.state.engine.database import Connection
from agent_core.tools.client_tools import is_passed, name_for_program
from agent_core.transcript import Message, ToolCallPart, ToolResultPart
from gateway.interfaces.api.errors import ApiError

Finish = Literal["stop", "length", "tool_calls"]
"""Why an answer ends: it is complete, it is cut at the limit, or the program has to run calls."""

_SWEPT = "The answer to this request is no longer kept."
_REFUSED = "The model behind Talaria refuses this request. {detail}"
_LONGEST_DETAIL = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientCall:
    """A call that the program runs; `arguments` is JSON text."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiAnswer:
    """An answer with the tokens of its turn."""

    text: str
    calls: tuple[ClientCall, ...] = ()
    finish: Finish = "stop"
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0


def read_answer(
    connection: Connection, *, turn_id: TurnId, person_id: PersonId, wishes: ProgramWishes
) -> ApiAnswer:
    """Read the answer of a turn that is over.

    An answer that has to fit a schema, or that is cut, has no notes for people. Raises `ApiError`
    if the answer is gone, or if the model refused what the program wished.
    """
    turn = turns.find(connection, turn_id=turn_id)
    is_refused = turn is not None and (turn.state, turn.reason) == ("failed", "model_rejected")
    if turn and is_refused and wishes.shape_answers:
        said = _REFUSED.format(detail=turn.detail[:_LONGEST_DETAIL])
        raise ApiError(HTTPStatus.BAD_REQUEST, said, code="unsupported_parameter")
    calls = find_calls(connection, turn_id=turn_id, person_id=person_id)
    is_cut = turn is not None and (turn.state, turn.reason) == ("answered", "length")
    if is_cut or (wishes.response_schema and turn and turn.state == "answered"):
        written = messages.answer_of_turn(connection, turn_id=turn_id, person_id=person_id)
        text = unwrap_json(written) if wishes.response_schema else written
    else:
        text = "\n\n".join(
            private_history.list_answer(connection, turn_id=turn_id, person_id=person_id)
        )
    if not (text or calls):
        raise ApiError(HTTPStatus.GONE, _SWEPT, code="gone")
    total = usage.total_of_turn(connection, turn_id=turn_id)
    return ApiAnswer(
        text=text,
        calls=calls,
        finish="tool_calls" if calls else "length" if is_cut else "stop",
        input_tokens=total.input_tokens,
        cached_tokens=total.cache_read_tokens,
        output_tokens=total.output_tokens,
    )


def find_calls(
    connection: Connection, *, turn_id: TurnId, person_id: PersonId
) -> tuple[ClientCall, ...]:
    """Find the calls with which a turn ended, and which the program runs."""
    turn = turns.find(connection, turn_id=turn_id)
    if turn is None or turn.reason != PASSED:
        return ()
    try:
        own = messages.list_of_turn(connection, turn_id=turn_id, person_id=person_id)
    except StoreDamaged:
        return ()
    last = [stored.message for stored in own[-2:]]
    passed = {
        part.call_id
        for message in last
        for part in message.parts
        if isinstance(part, ToolResultPart) and is_passed(part)
    }
    return tuple(_show(call) for call in _list_calls(last) if call.call_id in passed)


def _list_calls(own: list[Message]) -> list[ToolCallPart]:
    return [call for message in own for call in message.calls]


def _show(call: ToolCallPart) -> ClientCall:
    return ClientCall(
        id=call.call_id, name=name_for_program(call.name), arguments=call.arguments or "{}"
    )
