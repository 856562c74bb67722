"""The command that tells what fills the context of a talk: context."""

import asyncio
from collections.abc import Sequence

from agent_core.models.contract import ModelRequest
from agent_core.replay.rebuilding import rebuild
from agent_core.replay.reckoning import Reckoning, reckon
from agent_core.replay.records import ANSWERS, TurnRecord, read_record
from agent_core.state import sessions, turns, usage
from agent_core.state.database import Connection
from agent_core.state.usage import Spent
from gateway import wording_reckoning
from gateway.commands.registry import Call, House, Reply, SlashCommand

_LOOKED_AT = 10
"""Turns, newest first, among which the last two with an answer of a model are looked for."""

_Found = tuple[TurnRecord, Sequence[Spent]]


async def _context(call: Call, house: House) -> Reply:
    """Nothing of what stands in the prompt is shown, only how much: also in rooms."""
    found = await house.database.read(lambda connection: _look(connection, call))
    prompt = found[0].prompt if found else None
    if found is None or prompt is None:
        return Reply(text=wording_reckoning.CONTEXT_EMPTY)
    record, before = found

    def work() -> Reckoning:
        return reckon(record, prompt, rebuild(record), before)

    reckoning = await asyncio.to_thread(work)
    request = ModelRequest(
        model=reckoning.model,
        system="",
        tools=(),
        messages=(),
        max_output_tokens=reckoning.output_limit,
    )
    bounds = house.folding.measures.bounds(request, call.person.context_cap)
    return Reply(text=wording_reckoning.describe_context(reckoning, bounds.limit))


def _look(connection: Connection, call: Call) -> _Found | None:
    """The last turn of the open session that a model answered, and the calls of the one before."""
    session = sessions.find_open(connection, conversation_id=call.conversation.id)
    recent = turns.list_latest(connection, conversation_id=call.conversation.id, limit=_LOOKED_AT)
    answered = [
        (turn, calls)
        for turn in recent
        if session and turn.session_id == session.id and turn.state != "running"
        if (calls := _list_calls(connection, turn))
    ]
    record = read_record(connection, answered[0][0].id) if answered else None
    if record is None:
        return None
    return record, answered[1][1] if len(answered) > 1 else ()


def _list_calls(connection: Connection, turn: turns.Turn) -> list[Spent]:
    spent = usage.list_of_turn(connection, turn_id=turn.id)
    return [one for one in spent if one.purpose == ANSWERS]


COMMANDS = (
    SlashCommand(
        name="context", summary="What I read before each answer, and how to need less", run=_context
    ),
)
