"""Consent to the mode `full`: asked once in a room, answered by a button, ended by anyone else."""

import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from adapters.abilities import KnowsCreator
from adapters.errors import AdapterError
from adapters.messages import InboundMessage
from agent_core.ids import PersonId, RoomId
from agent_core.state.conversations.questions import Choice, NewQuestion, Question, QuestionKind
from agent_core.state.engine.database import Connection, Database
from agent_core.state.people import rooms
from agent_core.state.people.people import Person
from agent_core.state.people.rooms import Room
from agent_core.state.queues.outbox import OutboxRow
from gateway.chats import make_chat
from gateway.outbound.dispatcher import OutboxDispatcher
from gateway.outbound.questions import Answerer, AnswerOutcome, Questions, make_secret
from gateway.people import room_privacy
from gateway.people.rooms import Rooms
from gateway.texts import rooms as room_texts

_LASTS = 7 * 86_400_000
"""Milliseconds during which the question may be answered."""
_PAUSE = 60.0
"""Seconds until a person is considered again in a room where they could not be asked."""
_MOST_REFUSED = 4096
_YES, _NO = "open", "close"


@dataclass(frozen=True, slots=True, kw_only=True)
class RoomConsent:
    """Asks a person whether their direct conversation shall continue in a room.

    Only an owner, or the account that created the room, is asked, and only while no other account
    was ever noticed there and the platform counts exactly one person.
    """

    database: Database
    room_directory: Rooms
    questions: Questions
    dispatcher: OutboxDispatcher
    now: Callable[[], int]
    _refused: OrderedDict[tuple[RoomId, PersonId], float] = field(
        init=False, default_factory=OrderedDict
    )

    async def offer(self, platform: str, message: InboundMessage, person: Person) -> None:
        """Ask once in a room, if the person may be asked there. Raises `StoreError`."""
        room = await self.room_directory.find(platform, message)
        is_decided = room.mode != "person" or room.set_by is not None
        if is_decided or room.full_asked_at is not None or self.room_directory.has_others(room):
            return
        refused_at = self._refused.get((room.id, person.id))
        if refused_at is not None and time.monotonic() - refused_at < _PAUSE:
            return
        if await self.find_objection(room, message, person):
            self._refused[room.id, person.id] = time.monotonic()
            if len(self._refused) > _MOST_REFUSED:
                self._refused.popitem(last=False)
            return
        now = self.now()
        rows = await self.database.write("rooms.offer", self.ask, room, message, person, now)
        self.room_directory.forget_known()
        self.dispatcher.enqueue(rows)

    async def find_objection(self, room: Room, message: InboundMessage, person: Person) -> str:
        """Return the sentence why a person can't be asked in a room; "" if they can.

        Raises `StoreError`.
        """
        if not await self._is_in_charge(room, message, person):
            return room_texts.ONLY_OWNER_OR_CREATOR()
        if await self.database.read(room_privacy.is_shared, room, person.id):
            return room_texts.FULL_IMPOSSIBLE()
        people_count = await self.room_directory.count(room, message.address)
        if people_count == 1:
            return ""
        return room_texts.FULL_UNKNOWN() if not people_count else room_texts.FULL_IMPOSSIBLE()

    async def _is_in_charge(self, room: Room, message: InboundMessage, person: Person) -> bool:
        if person.is_owner:
            return True
        adapter = self.dispatcher.adapters.get(room.platform)
        if adapter is None or not isinstance(adapter, KnowsCreator):
            return False
        try:
            creator = await adapter.find_creator(message.address)
        except AdapterError:
            return False
        return creator == message.sender.user_id

    def ask(
        self, connection: Connection, room: Room, message: InboundMessage, person: Person, now: int
    ) -> list[OutboxRow]:
        """Ask in the room of a message, in the caller's transaction; an open question is closed."""
        rows = room_privacy.close_questions(connection, room, room_texts.FULL_REPLACED, now)
        rooms.note_full_asked(connection, room_id=room.id, now=now)
        address = replace(message.address, ticket=None)
        new = NewQuestion(
            person_id=person.id,
            kind="full",
            text=room_texts.FULL_QUESTION(),
            choices=(
                Choice(key=_YES, label=room_texts.FULL_YES(), style="good"),
                Choice(key=_NO, label=room_texts.FULL_NO()),
            ),
            secret=make_secret(),
            chat=make_chat(room.platform, address),
            expires_at=now + _LASTS,
            payload=str(room.id),
        )
        return [*rows, *self.questions.pose(connection, new, now)]


def make_consent_answerers() -> Mapping[QuestionKind, Answerer]:
    """Return the handler of the question's answers."""
    return {"full": _answer}


def _answer(
    connection: Connection, question: Question, key: str, person: Person, now: int
) -> AnswerOutcome:
    """Open the mode `full` after a yes, unless somebody else was noticed meanwhile."""
    room = rooms.find_by_id(connection, room_id=RoomId(int(question.payload)))
    if key != _YES:
        return AnswerOutcome(words=room_texts.FULL_DECLINED())
    if room is None or room_privacy.is_shared(connection, room, person.id):
        return AnswerOutcome(words=room_texts.FULL_IMPOSSIBLE())
    rooms.set_mode(connection, room_id=room.id, mode="full", by=person.id, now=now)
    room_privacy.record_mode(connection, room, "full", f"person:{person.id}", now)
    return AnswerOutcome(words=room_texts.FULL_OPENED())
