"""Operations on turns: list, show, replay and export them, and list undelivered messages."""

import asyncio
import json
from collections.abc import Collection, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

from agent_core.agent import outcomes
from agent_core.agent.replay import diff, replayer
from agent_core.agent.replay.diff import differ_in_words
from agent_core.agent.replay.rebuild import rebuild_calls
from agent_core.agent.replay.records import read_prompt_context, read_record
from agent_core.agent.replay.trajectories import Redaction, read_trajectories, render_trajectory
from agent_core.ids import PersonId, TurnId
from agent_core.state.conversations import messages, turns, usage
from agent_core.state.conversations.turns import StoredTurn
from agent_core.state.engine.database import Connection
from agent_core.state.memory import skill_uses
from agent_core.state.memory.skill_uses import Outcome
from agent_core.state.people import people
from agent_core.state.queues import dead_letters
from agent_core.tools.secret_scan import SecretMask
from agent_core.transcript import Message, dump_parts
from gateway.errors import Declined
from gateway.operations.contract import Operation, OperationContext, check_limit, find_person
from gateway.operations.turn_types import (
    ExportedTurns,
    ExportTurns,
    JudgedTurn,
    JudgeTurn,
    ListTurns,
    ListUndelivered,
    PickTurn,
    PromptOfNow,
    ReplayedTurn,
    RequestMessage,
    RequestTool,
    ShownTurn,
    TurnLine,
    TurnList,
    TurnRequest,
    TurnRequests,
    TurnStep,
    TurnTotal,
    UndeliveredList,
    UndeliveredMessage,
    Verdict,
)
from gateway.operations.wire import typed
from gateway.texts import turns as texts
from gateway.texts.general import explain_ending
from gateway.texts.turns import NOT_JUDGED
from gateway.texts.usage import describe_charged

if TYPE_CHECKING:
    from agent_core.agent.prompt.prompt_cache import FrozenPrompt
    from agent_core.agent.replay.rebuild import RebuiltCall
    from agent_core.agent.replay.records import TurnRecord

_SIGNS: Mapping[Verdict, str] = {"good": "👍", "bad": "👎", "none": ""}
"""The reaction of a chat that says the same."""


async def list_turns(context: OperationContext, asked: ListTurns) -> TurnList:
    """List everyone's newest turns, newest first. Raises `Declined`."""
    limit = check_limit(asked.limit)

    def look(connection: Connection) -> TurnList:
        names = {person.id: person.name for person in people.list_all(connection)}
        found = turns.list_recent(connection, limit=limit)
        return TurnList(
            turns=tuple(_outline(turn, names.get(turn.person_id, "(erased)")) for turn in found)
        )

    return await context.database.read(look)


async def show_turn(context: OperationContext, asked: PickTurn) -> ShownTurn:
    """Show one turn: its steps, its cost and its message. Raises `Declined`."""

    def look(connection: Connection) -> ShownTurn:
        turn = turns.find(connection, turn_id=asked.id)
        person = people.find(connection, person_id=turn.person_id) if turn else None
        if turn is None or person is None:
            raise _refuse_unknown(asked.id)
        total = usage.total_of_turn(connection, turn_id=turn.id)
        return ShownTurn(
            line=_outline(turn, person.name),
            attempts=turn.attempts,
            why=explain_ending(turn.state, turn.reason),
            detail=turn.detail,
            said=messages.request_of_turn(connection, turn_id=turn.id, person_id=person.id),
            steps=tuple(
                TurnStep(name=step.name, outcome=step.outcome, is_error=step.is_error)
                for step in turns.list_steps(connection, turn_id=turn.id)
            ),
            total=TurnTotal(
                calls=total.calls,
                input_tokens=total.input_tokens,
                cache_read_tokens=total.cache_read_tokens,
                output_tokens=total.output_tokens,
            ),
            price=describe_charged(usage.charged_of_turn(connection, turn_id=turn.id)),
        )

    return await context.database.read(look)


async def show_requests(context: OperationContext, asked: PickTurn) -> TurnRequests:
    """Rebuild each model request of a turn, and report whether it is proved to be exact.

    A request's messages are listed without those that the previous request began with, too. Raises
    `Declined`.
    """
    record = await _read(context, asked.id)
    calls = await asyncio.to_thread(rebuild_calls, record)
    before: Sequence[Message] = ()
    reported = []
    for call in calls:
        reported.append(_report(call, before))
        before = call.sent.messages if call.sent else before
    prompt = record.prompt
    tools = tuple(
        RequestTool(name=tool.name, description=tool.description, schema=tool.schema)
        for tool in (prompt.tools if prompt else ())
    )
    return TurnRequests(
        id=record.turn.id,
        system=prompt.system if prompt else None,
        tools=tools if prompt else None,
        calls=tuple(reported),
    )


async def replay_turn(context: OperationContext, asked: PickTurn) -> ReplayedTurn:
    """Replay a turn from its record, and compare each request with the original.

    Raises `Declined`.
    """
    record, prompt = await _read_with_prompt(context, asked.id)
    calls = await asyncio.to_thread(rebuild_calls, record)
    return await compare_replay(record, prompt, calls)


async def compare_replay(
    record: "TurnRecord", prompt: "FrozenPrompt", calls: "Sequence[RebuiltCall]"
) -> ReplayedTurn:
    """Replay the rebuilt calls of a turn, and compare each request with the original."""
    comparison = diff.compare(calls, await replayer.replay(record, calls, prompt))
    return ReplayedTurn(
        id=record.turn.id,
        calls=len(calls),
        attempts=record.turn.attempts,
        verdict=comparison.verdict,
        compared=comparison.compared,
        lines=comparison.lines,
    )


async def compare_memory(context: OperationContext, asked: PickTurn) -> PromptOfNow:
    """Compare a turn's prompt and requests with those for today's memory and the same tools.

    Raises `Declined`.
    """
    record, prompt = await _read_with_prompt(context, asked.id)
    calls = await asyncio.to_thread(rebuild_calls, record)
    fresh = await build_prompt_of_now(context, record, prompt)
    made = await replayer.replay(record, calls, fresh)
    rest = [(one.sent and one.sent.messages) for one in calls]
    return PromptOfNow(
        id=record.turn.id,
        calls=len(calls),
        is_rest_same=rest == [one.request.messages for one in made[: len(calls)]],
        prompt=differ_in_words(prompt.system, fresh.system),
    )


async def export_turns(context: OperationContext, asked: ExportTurns) -> ExportedTurns:
    """Write conversations to a new file. Raises `Declined` and `StoreError`."""
    target = Path(asked.target)
    if not target.is_absolute():
        raise Declined(f"{target} is not an absolute path.")

    def work(connection: Connection) -> int:
        person = asked.person
        whose = [find_person(connection, person)] if person else people.list_all(connection)
        redaction = Redaction(connection, SecretMask()) if asked.redact else None
        count = 0
        target.touch(mode=0o600, exist_ok=False)
        try:
            with target.open("w", encoding="utf-8") as file:
                for found in read_trajectories(connection, whose, asked.since or 0):
                    shown = redaction.apply(found) if redaction else found
                    file.write(render_trajectory(shown, asked.format) + "\n")
                    count += 1
        except BaseException:
            target.unlink()
            raise
        return count

    try:
        count = await context.database.browse(work)
    except FileExistsError as error:
        raise Declined(f"{target} exists already; name another file.") from error
    except OSError as error:
        raise Declined(f"{target} can't be written: {error.strerror or error}.") from error
    return ExportedTurns(target=str(target), count=count)


async def list_undelivered(context: OperationContext, asked: ListUndelivered) -> UndeliveredList:
    """List dead letters: messages that can't be delivered, newest first. Raises `Declined`."""
    limit = check_limit(asked.limit)
    rows = await context.database.read(dead_letters.list_dead, limit=limit)
    return UndeliveredList(
        undelivered=tuple(
            UndeliveredMessage(
                id=row.id,
                turn=row.turn_id,
                platform=row.chat.platform,
                chat=row.chat.address,
                reason=row.reason,
                text=row.body,
            )
            for row in rows
        )
    )


async def judge_turn(context: OperationContext, asked: JudgeTurn) -> JudgedTurn:
    """Count what a person thinks of an answer for its skills, as a reaction in a chat.

    It replaces reactions to the same answer. Raises `Declined`.
    """

    def work(connection: Connection) -> JudgedTurn:
        person_id = find_person(connection, asked.person).id
        if not skill_uses.list_judgeable(connection, person_id=person_id, turn_ids=[asked.id]):
            raise Declined(NOT_JUDGED())
        outcomes.judge(connection, asked.id, person_id, _SIGNS[asked.verdict], context.now())
        return JudgedTurn(verdict=asked.verdict)

    return await context.database.write("turns.judge", work)


def list_verdicts(
    connection: Connection, person_id: PersonId, turn_ids: Collection[TurnId]
) -> Mapping[TurnId, Verdict]:
    """List what a person thinks of answers, by their turns; those without a skill are left out."""
    found = skill_uses.list_judgeable(connection, person_id=person_id, turn_ids=turn_ids)
    verdicts = {one: outcomes.find_verdict(connection, one, person_id) for one in found}
    return {one: _name_verdict(verdict) for one, verdict in verdicts.items()}


async def build_prompt_of_now(
    context: OperationContext, record: "TurnRecord", prompt: "FrozenPrompt"
) -> "FrozenPrompt":
    """Build the prompt that a turn would get now, with the same tools. Raises `Declined`."""
    scene = await context.database.read(read_prompt_context, record)
    if scene is None or context.prompt_cache is None:
        raise Declined(texts.NO_PROMPT_NOW())
    # Without a session, the cache builds the prompt from the current state.
    return (await context.prompt_cache.find_or_build(scene, None, prompt.tools)).prompt


OPERATIONS: Mapping[str, Operation] = {
    "turns.list": typed(list_turns),
    "turns.show": typed(show_turn),
    "turns.requests": typed(show_requests),
    "turns.replay": typed(replay_turn),
    "turns.compare": typed(compare_memory),
    "turns.export": typed(export_turns),
    "turns.undelivered": typed(list_undelivered),
    "turns.judge": typed(judge_turn),
}
"""The operations, by their names on the control socket."""


def _outline(turn: StoredTurn, name: str) -> TurnLine:
    return TurnLine(
        id=turn.id,
        person=name,
        platform=turn.place.chat.platform,
        state=turn.state,
        reason=turn.reason,
        started_at=turn.started_at,
        ended_at=turn.ended_at,
    )


def _name_verdict(verdict: Outcome | None) -> Verdict:
    if verdict is None:
        return "none"
    return "good" if verdict == "liked" else "bad"


def _refuse_unknown(number: TurnId) -> Declined:
    return Declined(texts.UNKNOWN(number=number))


async def _read(context: OperationContext, number: TurnId) -> "TurnRecord":
    record = await context.database.read(read_record, number)
    if record is None:
        raise _refuse_unknown(number)
    if record.is_by_job:
        raise Declined(texts.NO_MODEL())
    return record


async def _read_with_prompt(
    context: OperationContext, number: TurnId
) -> "tuple[TurnRecord, FrozenPrompt]":
    record = await _read(context, number)
    if record.prompt is None:
        raise Declined(texts.NO_PROMPT())
    return record, record.prompt


def _report(call: "RebuiltCall", before: Sequence[Message]) -> TurnRequest:
    spent, sent = call.spent, call.sent
    found = sent.messages if sent else ()
    pairs = zip(found, before, strict=False)
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    return TurnRequest(
        model=spent.asked_model or spent.model,
        limit=spent.output_limit,
        hash=spent.request_hash,
        doubt=call.doubt,
        is_known=sent is not None,
        read=spent.read_tokens,
        from_cache=spent.cache_read_tokens,
        written=spent.output_tokens,
        pictures=tuple(sent.shown) if sent else (),
        same=same,
        messages=tuple(
            RequestMessage(role=one.role, parts=tuple(json.loads(dump_parts(one.parts))))
            for one in found[same:]
        ),
    )
