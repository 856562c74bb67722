"""Operations on turns: list, show, replay and export them, and list undelivered messages."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from agent_core.agent.replay import diff, formats, replayer
from agent_core.agent.replay.diff import differ_in_words
from agent_core.agent.replay.rebuild import rebuild_calls
from agent_core.agent.replay.records import read_prompt_context, read_record
from agent_core.agent.replay.trajectories import Redaction, read_trajectories, render_trajectory
from agent_core.ids import TurnId
from agent_core.state.conversations import messages, turns, usage
from agent_core.state.conversations.turns import StoredTurn
from agent_core.state.engine.database import Connection
from agent_core.state.people import people
from agent_core.state.queues import dead_letters
from agent_core.tools.secret_scan import SecretMask
from agent_core.transcript import Message, dump_parts
from gateway.errors import Declined
from gateway.operations.contract import (
    Answer,
    Operation,
    OperationContext,
    find_person,
    read_limit,
    read_text,
)
from gateway.texts.general import explain_ending
from gateway.texts.usage import describe_charged

if TYPE_CHECKING:
    from agent_core.agent.prompt.prompt_cache import FrozenPrompt
    from agent_core.agent.replay.formats import TrajectoryFormat
    from agent_core.agent.replay.rebuild import RebuiltCall
    from agent_core.agent.replay.records import TurnRecord


async def list_turns(context: OperationContext, asked: Answer) -> Answer:
    """List everyone's newest turns, newest first."""
    limit = read_limit(asked)

    def look(connection: Connection) -> list[dict[str, Any]]:
        names = {person.id: person.name for person in people.list_all(connection)}
        return [
            _outline(turn, names.get(turn.person_id, "(erased)"))
            for turn in turns.list_recent(connection, limit=limit)
        ]

    return {"turns": await context.database.read(look)}


async def show_turn(context: OperationContext, asked: Answer) -> Answer:
    """Show one turn: its steps, its cost and its message. Raises `Declined`."""
    number = _turn(asked)

    def look(connection: Connection) -> dict[str, Any] | None:
        turn = turns.find(connection, turn_id=number)
        person = people.find(connection, person_id=turn.person_id) if turn else None
        if turn is None or person is None:
            return None
        return _outline(turn, person.name) | {
            "attempts": turn.attempts,
            "why": explain_ending(turn.state, turn.reason),
            "detail": turn.detail,
            "said": messages.request_of_turn(connection, turn_id=turn.id, person_id=person.id),
            "steps": [
                {"name": step.name, "outcome": step.outcome, "is_error": step.is_error}
                for step in turns.list_steps(connection, turn_id=turn.id)
            ],
            "cost": asdict(usage.total_of_turn(connection, turn_id=turn.id)),
            "price": describe_charged(usage.charged_of_turn(connection, turn_id=turn.id)),
        }

    found = await context.database.read(look)
    if found is None:
        raise Declined(f"There is no turn {number}; `talaria turns` lists the newest.")
    return found


async def show_requests(context: OperationContext, asked: Answer) -> Answer:
    """Rebuild each model request of a turn, and report whether it is proved to be exact.

    A request's messages are listed without those that the previous request began with, too. Raises
    `Declined`.
    """
    record = await _read(context, asked)
    calls = await asyncio.to_thread(rebuild_calls, record)
    before: Sequence[Message] = ()
    reported = []
    for call in calls:
        reported.append(_report(call, before))
        before = call.sent.messages if call.sent else before
    prompt = record.prompt
    return {
        "id": record.turn.id,
        "system": prompt.system if prompt else None,
        "tools": [asdict(tool) for tool in prompt.tools] if prompt else None,
        "calls": reported,
    }


async def replay_turn(context: OperationContext, asked: Answer) -> Answer:
    """Replay a turn from its record, and compare each request with the original.

    If `memory` is "now", compare the turn's prompt with the prompt that it would get now, with the
    same tools. Raises `Declined`.
    """
    record = await _read(context, asked)
    if record.prompt is None:
        raise Declined(f"The prompt of turn {record.turn.id} was deleted or altered.")
    calls = await asyncio.to_thread(rebuild_calls, record)
    if asked.get("memory") == "now":
        return await _replay_with_memory_of_now(context, record, record.prompt, calls)
    return await compare_replay(record, record.prompt, calls)


async def compare_replay(
    record: "TurnRecord", prompt: "FrozenPrompt", calls: "Sequence[RebuiltCall]"
) -> Answer:
    """Replay the rebuilt calls of a turn, and compare each request with the original."""
    comparison = diff.compare(calls, await replayer.replay(record, calls, prompt))
    return {
        "id": record.turn.id,
        "calls": len(calls),
        "attempts": record.turn.attempts,
        "verdict": comparison.verdict,
        "compared": comparison.compared,
        "lines": comparison.lines,
    }


async def export_turns(context: OperationContext, asked: Answer) -> Answer:
    """Write conversations to a new file at an absolute path, one per line.

    `format` is a `TrajectoryFormat`, `person` a name or None for everybody, `since` in
    milliseconds since the epoch. Raises `Declined` and `StoreError`.
    """
    target, slug, since = Path(read_text(asked, "target")), asked.get("person"), asked.get("since")
    wanted: TrajectoryFormat = next(
        (one for one in get_args(formats.TrajectoryFormat) if one == asked.get("format")), "jsonl"
    )
    if not target.is_absolute():
        raise Declined(f"{target} is not an absolute path.")

    def work(connection: Connection) -> int:
        whose = [find_person(connection, slug)] if slug else people.list_all(connection)
        redaction = Redaction(connection, SecretMask()) if asked.get("redact") else None
        count = 0
        target.touch(mode=0o600, exist_ok=False)
        try:
            with target.open("w", encoding="utf-8") as file:
                for found in read_trajectories(connection, whose, since or 0):
                    shown = redaction.apply(found) if redaction else found
                    file.write(render_trajectory(shown, wanted) + "\n")
                    count += 1
        except BaseException:
            target.unlink()
            raise
        return count

    try:
        return {"target": str(target), "count": await context.database.browse(work)}
    except FileExistsError as error:
        raise Declined(f"{target} exists already; name another file.") from error
    except OSError as error:
        raise Declined(f"{target} can't be written: {error.strerror or error}.") from error


async def list_undelivered(context: OperationContext, asked: Answer) -> Answer:
    """List dead letters: messages that can't be delivered, newest first."""
    limit = read_limit(asked)
    rows = await context.database.read(dead_letters.list_dead, limit=limit)
    return {
        "undelivered": [
            {
                "id": row.id,
                "turn": row.turn_id,
                "platform": row.chat.platform,
                "chat": row.chat.address,
                "reason": row.reason,
                "text": row.body,
            }
            for row in rows
        ]
    }


async def build_prompt_of_now(
    context: OperationContext, record: "TurnRecord", prompt: "FrozenPrompt"
) -> "FrozenPrompt":
    """Build the prompt that a turn would get now, with the same tools. Raises `Declined`."""
    scene = await context.database.read(read_prompt_context, record)
    if scene is None or context.prompt_cache is None:
        raise Declined(f"Without settings, the current prompt of turn {record.turn.id} is unknown.")
    # Without a session, the cache builds the prompt from the current state.
    return (await context.prompt_cache.find_or_build(scene, None, prompt.tools)).prompt


async def _replay_with_memory_of_now(
    context: OperationContext,
    record: "TurnRecord",
    prompt: "FrozenPrompt",
    calls: "Sequence[RebuiltCall]",
) -> Answer:
    """Compare the prompt and the requests of a turn with those that it would have now."""
    fresh = await build_prompt_of_now(context, record, prompt)
    made = await replayer.replay(record, calls, fresh)
    rest = [(one.sent and one.sent.messages) for one in calls]
    return {
        "id": record.turn.id,
        "calls": len(calls),
        "is_rest_same": rest == [one.request.messages for one in made[: len(calls)]],
        "prompt": differ_in_words(prompt.system, fresh.system),
    }


OPERATIONS: Mapping[str, Operation] = {
    "turns.list": list_turns,
    "turns.show": show_turn,
    "turns.requests": show_requests,
    "turns.replay": replay_turn,
    "turns.export": export_turns,
    "turns.undelivered": list_undelivered,
}


def _outline(turn: StoredTurn, name: str) -> dict[str, Any]:
    return {
        "id": turn.id,
        "person": name,
        "platform": turn.place.chat.platform,
        "state": turn.state,
        "reason": turn.reason,
        "started_at": turn.started_at,
        "ended_at": turn.ended_at,
    }


def _turn(asked: Answer) -> TurnId:
    number = asked.get("id")
    if not isinstance(number, int):
        raise Declined("Give the number of a turn.")
    return TurnId(number)


async def _read(context: OperationContext, asked: Answer) -> "TurnRecord":
    number = _turn(asked)
    record = await context.database.read(read_record, number)
    if record is None:
        raise Declined(f"There is no turn {number}; `talaria turns` lists the newest.")
    if record.is_by_job:
        raise Declined(f"Turn {number} used no model: a job sent its message.")
    return record


def _report(call: "RebuiltCall", before: Sequence[Message]) -> dict[str, Any]:
    spent, sent = call.spent, call.sent
    messages = sent.messages if sent else ()
    pairs = zip(messages, before, strict=False)
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    return {
        "model": spent.asked_model or spent.model,
        "limit": spent.output_limit,
        "hash": spent.request_hash,
        "doubt": call.doubt,
        "is_known": sent is not None,
        "read": spent.read_tokens,
        "from_cache": spent.cache_read_tokens,
        "written": spent.output_tokens,
        "pictures": list(sent.shown) if sent else [],
        "same": same,
        "messages": [
            {"role": one.role, "parts": json.loads(dump_parts(one.parts))}
            for one in messages[same:]
        ],
    }
