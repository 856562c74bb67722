"""Bring a long conversation in with many small writes: nobody sees it before all of it is here."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from agent_core.agent.id_allocator import IdAllocator
from agent_core.ids import PersonId, SessionId, TurnId
from agent_core.state.conversations import messages, past_import, staged_import
from agent_core.state.conversations.messages import TranscriptPlace
from agent_core.state.conversations.past_import import PastTurn
from agent_core.state.engine.database import Connection, Database

_PIECE = 250
"""Messages of one write; the messages of people wait no longer than for such a write."""
_LARGE = 200_000
"""Characters after which a piece ends before it has `_PIECE` messages."""
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class PastConversation:
    """An ended session of a person, with its title and its turns, of which it has at least one."""

    person_id: PersonId
    title: str
    turns: Sequence[PastTurn]


async def stage(
    database: Database, ids: IdAllocator, past: PastConversation, now: int
) -> SessionId:
    """Write a conversation that nobody sees until `staged_import.publish`. Raises `StoreError`."""
    session_id = ids.next_session()
    conversation = await database.write(
        "imports.begin",
        staged_import.begin,
        session_id=session_id,
        person_id=past.person_id,
        title=past.title,
        began_at=past.turns[0].began_at,
        now=now,
    )
    place: TranscriptPlace | None = None
    for piece in _cut([(ids.next_turn(), turn) for turn in past.turns]):

        def work(
            connection: Connection,
            piece: Sequence[_Piece] = piece,
            place: TranscriptPlace | None = place,
        ) -> TranscriptPlace | None:
            for turn_id, turn, first, last in piece:
                if first == 0:
                    place = past_import.begin_turn(
                        connection, conversation, session_id, turn_id, turn
                    )
                assert place  # noqa: S101 - the first message of each turn has made it
                for message, at in turn.said[first:last]:
                    messages.append(connection, place, [message], now=at)
            return place

        place = await database.write("imports.stage", work)
    return session_id


async def finish_imports(database: Database) -> None:
    """Drop what was staged and not published, and index what was published."""
    for session_id in await database.read(staged_import.list_staged):
        while not await database.write(
            "imports.drop", staged_import.drop_next, session_id=session_id, most=_PIECE
        ):
            pass
    for session_id in await database.read(staged_import.list_unindexed):
        while not await database.write(
            "imports.index", staged_import.index_next, session_id=session_id, most=_PIECE
        ):
            pass


_Piece = tuple[TurnId, PastTurn, int, int]
"""A turn and the places of its first message, and of the first that is not in the piece."""


def _cut(turns: Sequence[tuple[TurnId, PastTurn]]) -> Iterator[list[_Piece]]:
    """Yield pieces of about the same size; a long turn is in several of them."""
    piece: list[_Piece] = []
    count = size = 0
    for turn_id, turn in turns:
        first = 0
        for place, (message, _) in enumerate(turn.said, start=1):
            count, size = count + 1, size + len(message.text)
            if count == _PIECE or size > _LARGE:
                yield [*piece, (turn_id, turn, first, place)]
                piece, count, size, first = [], 0, 0, place
        if first < len(turn.said):
            piece.append((turn_id, turn, first, len(turn.said)))
    if piece:
        yield piece
