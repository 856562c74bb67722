"""The command that tells what fills the context of a talk: context."""

import asyncio
from collections.abc import Sequence

from agent_core.agent.compaction.compactor import Talk
from agent_core.agent.replay.context_report import Reckoning, reckon
from agent_core.agent.replay.rebuild import rebuild
from agent_core.agent.replay.records import ANSWERS, TurnRecord, read_record
from agent_core.ids import PersonId, PromptHash
from agent_core.models.contract import ModelRequest
from agent_core.state.conversations import sessions, turns, usage
from agent_core.state.conversations.sessions import Session
from agent_core.state.conversations.usage import Charged, Line, Spent
from agent_core.state.engine.database import Connection
from gateway.commands.registry import Call, House, Reply, SlashCommand
from gateway.texts import usage as wording_context
from gateway.texts import usage as wording_reckoning
from gateway.texts import usage as wording_usage
from gateway.texts.usage import Reader, UsageReport


async def _compact(call: Call, house: House) -> Reply:
    """Fold this talk; the argument is what the summary has to keep above all."""
    conversation = call.conversation
    if house.lanes.is_running(conversation.id):
        return Reply(text=wording_context.COMPACT_RUNNING)

    def look(connection: Connection) -> tuple[Session | None, PromptHash | None]:
        session = sessions.find_open(connection, conversation_id=conversation.id)
        latest = turns.find_latest(
            connection, conversation_id=conversation.id, person_id=call.person.id
        )
        # After a fold the session has none until its next turn: the last one's was as long.
        last = latest.prompt_hash if latest else None
        return session, (session and session.prompt_hash) or last

    session, prompt_hash = await house.database.read(look)
    if session is None:
        return Reply(text=wording_context.COMPACT_EMPTY)
    talk = Talk(session_id=session.id, owner_id=conversation.person_id, payer_id=call.person.id)
    folded = await house.folding.fold_now(talk, prompt_hash, call.argument)
    if folded is None:
        return Reply(text=wording_context.COMPACT_NO_GAIN)
    house.lanes.forget_talks()
    return Reply(
        text=wording_context.describe_compact(folded.fold.tokens_before, folded.fold.tokens_after)
    )


COMMANDS = (
    SlashCommand(
        name="compact",
        summary="Tell the older part of this talk by a summary, to save tokens",
        run=_compact,
    ),
)


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


REPORT_COMMANDS = (
    SlashCommand(
        name="context", summary="What I read before each answer, and how to need less", run=_context
    ),
)


_MONTH = 30 * 86_400_000

_Spending = tuple[list[Line], Charged, list[tuple[PersonId, str, Charged]]]


async def _usage(call: Call, house: House) -> Reply:
    person, everybody = await house.ceilings.look(call.person.id)
    # What others spent is for owners, and for nobody who reads along in a room.
    shows_house = call.person.is_owner and call.message.address.is_direct

    def look(connection: Connection) -> _Spending:
        own, since = call.person.id, call.now - _MONTH
        by_person = (
            usage.charged_by_person(connection, since=everybody.day.start) if shows_house else []
        )
        return (
            usage.list_lines(connection, person_id=own, since=person.day.start),
            usage.charged_since(connection, person_id=own, since=since),
            by_person,
        )

    today, month, by_person = await house.database.read(look)
    priced = []
    for model in dict.fromkeys(line.model for line in today):
        price = house.ceilings.prices.find(model)
        priced.append((model, price.as_of if price else ""))
    report = UsageReport(
        reader=Reader(zone=call.zone, now=call.now, is_owner=call.person.is_owner),
        person=person,
        today=today,
        month=month,
        priced=priced,
        house=everybody if shows_house else None,
        people=[(name, charged) for _, name, charged in by_person],
    )
    return Reply(text=wording_usage.describe_usage(report))


USAGE_COMMANDS = (
    SlashCommand(name="usage", summary="What was spent, and what is left", run=_usage),
)
