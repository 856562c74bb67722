"""What happens to a person's turns, memory and questions, from any place in time."""

from dataclasses import dataclass, replace

from agent_core.ids import PersonId
from agent_core.state.conversations import questions, transcripts
from agent_core.state.engine.database import Connection
from agent_core.state.memory import ledger

_MOST = 1000
"""Events of a kind that one look finds: of turns the oldest, of changes the newest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cursor:
    """The place in the stream: the newest turn, change and question that were reported.

    `open_turn` is the oldest turn whose end was not reported. After a break, ends of later turns
    may be reported again: each event is given at least once.
    """

    turn: int
    open_turn: int
    change: int
    question: int

    def write(self) -> str:
        """Write the cursor as the id of an event."""
        return f"{self.turn}-{self.open_turn}-{self.change}-{self.question}"


def read_cursor(text: str) -> Cursor | None:
    """Read the id of an event; None for anything else."""
    parts = text.split("-")
    if len(parts) != 4 or not all(part.isascii() and part.isdecimal() for part in parts):
        return None
    turn, open_turn, change, question = (min(int(part[:19]), 2**62) for part in parts)
    return Cursor(turn=turn, open_turn=open_turn, change=change, question=question)


Event = tuple[str, dict[str, object]]
"""The name of an event and its fields."""


class EventFeed:
    """The events of one person from a place in the stream, or from now on. Each look reads."""

    def __init__(self, person_id: PersonId, start: Cursor | None) -> None:
        self._person_id = person_id
        self.cursor = start
        """The place behind all events that were read; None before the first look."""
        self._ended: set[int] = set()
        """Turns from `open_turn` on whose end was reported."""

    def read(self, connection: Connection) -> list[Event]:
        """Read what is new, and move the cursor behind it."""
        if self.cursor is None:
            self.cursor = self._find_now(connection)
            return []
        events = [*self._read_turns(connection), *self._read_changes(connection)]
        return [*events, *self._read_questions(connection)]

    def _find_now(self, connection: Connection) -> Cursor:
        newest, oldest_open = transcripts.find_place(connection, person_id=self._person_id)
        changes = ledger.list_recent_of(connection, person_id=self._person_id, limit=1)
        asked = questions.find_open(connection, person_id=self._person_id)
        return Cursor(
            turn=newest,
            open_turn=oldest_open or newest + 1,
            change=changes[0].id if changes else 0,
            question=max((one.id for one in asked), default=0),
        )

    def _read_turns(self, connection: Connection) -> list[Event]:
        cursor = self.cursor
        assert cursor is not None  # noqa: S101 - `read` checks it
        found = transcripts.list_states(
            connection, person_id=self._person_id, since=cursor.open_turn, limit=_MOST
        )
        events: list[Event] = []
        for turn_id, state in found:
            if turn_id > cursor.turn:
                events.append(("turn.started", {"turn": turn_id}))
            if state != "running" and turn_id not in self._ended:
                events.append(("turn.ended", {"turn": turn_id, "state": state}))
                self._ended.add(turn_id)
        if found:
            is_open = [turn_id for turn_id, state in found if state == "running"]
            newest = max(cursor.turn, found[-1][0])
            open_turn = is_open[0] if is_open else newest + 1
            self._ended = {one for one in self._ended if one >= open_turn}
            self.cursor = replace(cursor, turn=newest, open_turn=open_turn)
        return events

    def _read_changes(self, connection: Connection) -> list[Event]:
        cursor = self.cursor
        assert cursor is not None  # noqa: S101 - `read` checks it
        recent = ledger.list_recent_of(connection, person_id=self._person_id, limit=_MOST)
        found = [one for one in reversed(recent) if one.id > cursor.change]
        if found:
            self.cursor = replace(cursor, change=found[-1].id)
        return [("memory.changed", {"change": one.id, "target": one.target}) for one in found]

    def _read_questions(self, connection: Connection) -> list[Event]:
        cursor = self.cursor
        assert cursor is not None  # noqa: S101 - `read` checks it
        asked = questions.find_open(connection, person_id=self._person_id)
        found = sorted(one.id for one in asked if one.id > cursor.question)
        if found:
            self.cursor = replace(cursor, question=found[-1])
        return [("question.asked", {"question": number}) for number in found]
