"""Turns: the list, and one turn as a timeline with its waits and its prompt."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agent_core.agent.replay.records import read_record
from agent_core.ids import TurnId
from agent_core.state.conversations import messages, transcripts, turns, usage
from agent_core.state.conversations.transcripts import TimedCall, TimedWait
from agent_core.state.conversations.turns import StoredTurn
from agent_core.state.conversations.usage import QuotaUsage
from agent_core.state.engine.database import Connection
from agent_core.state.jobs import jobs
from agent_core.state.memory import skill_uses
from gateway.interfaces.pages.views import LARGEST, Fields, Look, Missing
from gateway.interfaces.timelines import find_starts
from gateway.texts import turns as texts
from gateway.texts.tools import describe_step
from gateway.texts.usage import describe_charged

_PAGE = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A step of a turn in the timeline.

    `place` is its start and its width, in thousandths of the turn's duration.
    """

    kind: str
    name: str
    place: tuple[int, int]
    seconds: float | None
    is_error: bool = False
    read: int = 0
    cached: int = 0
    written: int = 0
    cost: str = ""


async def show_list(look: Look) -> Fields:
    """Read a page of the person's turns, newest first."""
    person_id = look.person.id
    before = look.read_number("before", LARGEST)

    def work(connection: Connection) -> dict[str, Any]:
        found = turns.list_of_person(connection, person_id=person_id, before=before, limit=_PAGE)
        listed = [(turn, describe_request(connection, turn)) for turn in found]
        return {"turns": listed, "next": found[-1].id if len(found) == _PAGE else None}

    return await look.gateway.database.read(work)


def describe_request(connection: Connection, turn: StoredTurn) -> str:
    """Return what a turn was about: the person's words, else its job or what it did first."""
    asked = messages.request_of_turn(connection, turn_id=turn.id, person_id=turn.person_id)
    if asked.strip():
        return asked
    if job := jobs.find_of_turn(connection, turn_id=turn.id):
        return job.title
    steps = turns.list_steps(connection, turn_id=turn.id)
    return describe_step(steps[0].name) if steps else ""


async def show(look: Look) -> Fields:
    """Read one turn of the person. Raises `Missing`."""
    person_id, turn_id = look.person.id, TurnId(look.find_id("turn"))

    def work(connection: Connection) -> dict[str, Any]:
        turn = turns.find_of_person(connection, turn_id=turn_id, person_id=person_id)
        if turn is None:
            raise Missing
        is_own = transcripts.is_of_person(
            connection, conversation_id=turn.conversation_id, person_id=person_id
        )
        record = read_record(connection, turn_id) if is_own else None
        end = turn.ended_at or look.gateway.now()
        waits = transcripts.list_waits(connection, turn_id=turn_id)
        begin = min([turn.started_at, *(wait.began_at for wait in waits)])
        return {
            "turn": turn,
            "asked": describe_request(connection, turn),
            "answer": messages.answer_of_turn(connection, turn_id=turn_id, person_id=person_id),
            "seconds": (end - turn.started_at) / 1000,
            "bars": _list_bars(connection, turn, waits, (begin, end)),
            "total": usage.total_of_turn(connection, turn_id=turn_id),
            "cost": describe_charged(usage.charged_of_turn(connection, turn_id=turn_id)),
            "prompt": record.prompt if record else None,
            "skills": skill_uses.list_names(connection, turn_id=turn_id),
            "steps": len(transcripts.list_timed_steps(connection, turn_id=turn_id)),
            "is_own": is_own,
            "r": texts,
        }

    return await look.gateway.database.read(work)


def _list_bars(
    connection: Connection, turn: StoredTurn, waits: Sequence[TimedWait], span: tuple[int, int]
) -> list[Bar]:
    """List the waits, model calls and tool calls of a turn, ordered by their start."""
    begin, end = span
    turn_id = turn.id
    whole = max(end - begin, 1)
    found: list[tuple[int, int, Bar]] = []

    def place(start: int, stop: int) -> tuple[int, int]:
        left = min(max((start - begin) * 1000 // whole, 0), 990)
        return left, max(min((stop - start) * 1000 // whole, 1000 - left), 10)

    for wait in waits:
        stop = wait.ended_at or end
        bar = Bar(
            kind="wait",
            name=texts.WAITS[wait.kind](),
            place=place(wait.began_at, stop),
            seconds=max(stop - wait.began_at, 0) / 1000 if wait.ended_at or turn.ended_at else None,
        )
        found.append((wait.began_at, stop, bar))
    steps = transcripts.list_timed_steps(connection, turn_id=turn_id)
    calls = transcripts.list_timed_calls(connection, turn_id=turn_id)
    for step in steps:
        stop = step.ended_at or end
        bar = Bar(
            kind="tool",
            name=describe_step(step.name),
            place=place(step.started_at, stop),
            seconds=(stop - step.started_at) / 1000 if step.ended_at else None,
            is_error=step.is_error,
        )
        found.append((step.started_at, stop, bar))
    for start, call in zip(find_starts(turn.started_at, end, steps, calls), calls, strict=True):
        bar = Bar(
            kind="model",
            name=call.model,
            place=place(start, call.at),
            seconds=(call.at - start) / 1000,
            read=call.read,
            cached=call.cached,
            written=call.written,
            cost=_describe_cost(call),
        )
        found.append((start, call.at, bar))
    return [bar for _, _, bar in sorted(found, key=lambda one: one[:2])]


def _describe_cost(call: TimedCall) -> str:
    tokens = call.read + call.written if call.micro_dollars is None else 0
    return describe_charged(
        QuotaUsage(micro_dollars=call.micro_dollars or 0, unpriced_tokens=tokens)
    )
