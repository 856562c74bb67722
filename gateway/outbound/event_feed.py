"""The feed of events about a person's turns, memory and questions, readable from any position.

The event stream of the API, the console's pages and webhooks read it, so they all report the same
events.
"""

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from agent_core.ids import PersonId
from agent_core.state.engine.database import Connection
from agent_core.state.queues import person_events
from agent_core.state.queues.person_events import (
    RUNNING,
    AskedQuestion,
    MemoryChange,
    TurnEventState,
)
from agent_core.state.webhooks.webhooks import WebhookEventKind

_MOST = 1000
"""Most events of a kind that one read returns; the next read returns more."""
_LATEST_ROW = 15.0
"""Seconds after which no turn with a lower number can appear: a short turn is written at its end
(`START_DELAY`), and again after a pause if the store refuses it (`Timings.store_retry`).
"""


_PLACE = re.compile(r"(\d+)-([\d.]*)-([\d.]*)-(\d+)-(\d+)", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cursor:
    """A position in the stream: the events that were reported so far.

    Reported are all turns up to the number `floor`, and the `recent` ones above it. The end of the
    `open` turns is not reported yet. `change` and `question` are the newest reported numbers.
    """

    floor: int
    recent: frozenset[int] = frozenset()
    open: frozenset[int] = frozenset()
    change: int
    question: int

    def write(self) -> str:
        """Write the cursor as the id of an event."""
        recent, still_open = (_join(turns) for turns in (self.recent, self.open))
        return f"{self.floor}-{recent}-{still_open}-{self.change}-{self.question}"


def read_cursor(text: str) -> Cursor | None:
    """Read the id of an event; None for anything else."""
    found = _PLACE.fullmatch(text)
    if found is None:
        return None
    floor, recent, still_open, change, question = map(_read_numbers, found.groups())
    return Cursor(
        floor=max(floor),
        recent=recent,
        open=still_open,
        change=max(change),
        question=max(question),
    )


def _read_numbers(text: str) -> frozenset[int]:
    return frozenset(min(int(one[:19]), 2**62) for one in text.split(".") if one)


def _join(turns: frozenset[int]) -> str:
    return ".".join(map(str, sorted(turns)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """An event of a person. `number` is that of the turn, change or question; `at` is in ms UTC."""

    kind: WebhookEventKind
    number: int
    at: int
    fields: dict[str, object] = field(default_factory=dict)


class EventFeed:
    """The events of one person, from a position in the stream or from now on."""

    def __init__(
        self,
        person_id: PersonId,
        start: Cursor | None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._person_id = person_id
        self.cursor = start
        """The position after all events read so far; None before the first read."""
        self._clock = clock
        self._seen_at = dict.fromkeys(start.recent, clock()) if start else {}
        """When the recent turns were first seen, in seconds of the clock."""

    def read(self, connection: Connection) -> list[Event]:
        """Read what is new, and move the cursor past it."""
        if self.cursor is None:
            self.cursor = find_now(connection, person_id=self._person_id)
            return []
        turns, cursor = self._read_turns(connection, self.cursor)
        changes = person_events.list_changes(
            connection, person_id=self._person_id, after=cursor.change, limit=_MOST
        )
        questions = person_events.list_questions(
            connection, person_id=self._person_id, after=cursor.question, limit=_MOST
        )
        self.cursor = replace(
            cursor,
            change=changes[-1].id if changes else cursor.change,
            question=questions[-1].id if questions else cursor.question,
        )
        return [*turns, *map(_describe_change, changes), *map(_describe_question, questions)]

    def _read_turns(self, connection: Connection, cursor: Cursor) -> tuple[list[Event], Cursor]:
        found = person_events.list_turns(
            connection, person_id=self._person_id, after=cursor.floor, limit=_MOST
        )
        new = [turn for turn in found if turn.id not in cursor.recent]
        earlier: list[TurnEventState] = []
        if cursor.open:
            earlier = person_events.find_turns(
                connection, person_id=self._person_id, turn_ids=cursor.open
            )
        events = [event for turn in new for event in _describe(turn, is_new=True)]
        events += [event for turn in earlier for event in _describe(turn, is_new=False)]
        still_open = {turn.id for turn in (*earlier, *new) if turn.state == RUNNING}
        floor = self._find_floor([turn.id for turn in found], cursor.floor)
        recent = frozenset(self._seen_at)
        place = replace(cursor, floor=floor, recent=recent, open=frozenset(still_open))
        return events, place

    def _find_floor(self, found: list[int], floor: int) -> int:
        """Return the number up to which no other turn can appear any more."""
        now = self._clock()
        is_backlog = len(found) == _MOST
        self._seen_at = {turn: self._seen_at.get(turn, now) for turn in found}
        for turn in found:
            if not is_backlog and now - self._seen_at[turn] < _LATEST_ROW:
                break
            floor = turn
            del self._seen_at[turn]
        return floor


def find_now(connection: Connection, *, person_id: PersonId) -> Cursor:
    """Return the position at the end of a person's stream: everything so far counts as reported."""
    newest = person_events.find_newest(connection, person_id=person_id)
    running = person_events.list_running(connection, person_id=person_id)
    return Cursor(
        floor=newest.turn,
        open=frozenset(running),
        change=newest.change,
        question=newest.question,
    )


def _describe(turn: TurnEventState, *, is_new: bool) -> Iterator[Event]:
    """Yield what happened to a turn since it was last seen."""
    if is_new:
        yield Event(
            kind="turn.started", number=turn.id, at=turn.started_at, fields={"turn": turn.id}
        )
    if turn.state != RUNNING:
        yield Event(
            kind="turn.ended",
            number=turn.id,
            at=turn.ended_at or turn.started_at,
            fields={"turn": turn.id, "state": turn.state},
        )


def _describe_change(one: MemoryChange) -> Event:
    fields: dict[str, object] = {"change": one.id, "target": one.target}
    return Event(kind="memory.changed", number=one.id, at=one.created_at, fields=fields)


def _describe_question(one: AskedQuestion) -> Event:
    return Event(kind="question.asked", number=one.id, at=one.asked_at, fields={"question": one.id})
