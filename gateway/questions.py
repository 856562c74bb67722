"""Questions to people: asked with buttons, answered once, and only by whom they are for."""

import asyncio
import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from adapters.abilities import CanAsk
from adapters.ids import Address
from agent_core.ids import InboxId, PersonId, QuestionId, TurnId
from agent_core.state import inbox, outbox, questions, turns
from agent_core.state.database import Connection, Database
from agent_core.state.outbox import Debt, OutboxRow
from agent_core.state.people import Person
from agent_core.state.questions import Choice, Kind, NewQuestion, Question
from agent_core.tools.asking import Answer, Inquiry
from gateway import translate, wording
from gateway.delivery import Delivery

_KEY = re.compile(r"q(?P<id>[0-9]{1,15}):(?P<choice>[a-z0-9_]{1,12}):(?P<secret>[0-9a-f]{8})")
_PATIENCE = 600_000
"""Milliseconds that a turn waits for an answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What an answer came to: the words that the question's message ends in, and what is owed.

    With `stays_open` nothing was decided: the words are a message of their own, and the
    buttons go on working.
    """

    words: str
    rows: Sequence[OutboxRow] = ()
    stays_open: bool = False
    asks: Sequence[NewQuestion] = ()
    """What is to be asked now in its turn."""


Answerer = Callable[[Connection, Question, str, Person, int], Outcome]
"""Does what an answer asks for, in the transaction that keeps the answer: given the question,
the key of the choice, who answers, and the time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reaction:
    """Somebody's reaction to a question: an event with the key of a button in it, or words."""

    inbox_id: InboxId
    platform: str
    address: Address
    person: Person


class Questions:
    """All open questions, and the turns that wait for an answer."""

    def __init__(
        self,
        *,
        database: Database,
        delivery: Delivery,
        now: Callable[[], int],
        answerers: Mapping[Kind, Answerer],
    ) -> None:
        self._database = database
        self._adapters = delivery.adapters
        self._delivery = delivery
        self._now = now
        self._answerers: dict[Kind, Answerer] = {
            "choice": _tell_choice,
            "approval": _tell_choice,
            **answerers,
        }
        self._asked: set[PersonId] = set()
        """People who may have something open; nobody else's words are looked at."""
        self._waiting: dict[QuestionId, asyncio.Future[str]] = {}
        self._turns_of: dict[QuestionId, TurnId] = {}

    async def start(self) -> None:
        """Learn who was asked something by an earlier process. Raises `StoreError`."""
        self._asked.update(await self._database.read(questions.list_asked))

    def pose(self, connection: Connection, new: NewQuestion, now: int) -> list[OutboxRow]:
        """Keep a question and owe the message that asks it; in the caller's transaction."""
        question = questions.ask(connection, new, now=now)
        self._asked.add(new.person_id)
        if outbox.find_of_question(connection, question_id=question.id):
            return []
        return [self._owe(connection, question, now)]

    async def ask(self, inquiry: Inquiry) -> Choice | Answer:
        """Ask on behalf of a running turn, and wait; see `Inquirer`."""
        now = self._now()

        def work(connection: Connection) -> tuple[Question, list[OutboxRow]]:
            turn = turns.find(connection, turn_id=inquiry.turn_id)
            assert turn is not None  # noqa: S101 - no turn is ever deleted
            new = NewQuestion(
                person_id=inquiry.person_id,
                kind=inquiry.kind,
                text=inquiry.text,
                choices=inquiry.choices,
                secret=make_secret(),
                place=(turn.platform, turn.chat),
                expires_at=now + _PATIENCE,
                turn_id=inquiry.turn_id,
                call_id=inquiry.call_id,
            )
            rows = self.pose(connection, new, now)
            return questions.ask(connection, new, now=now), rows

        question, rows = await self._database.write("questions.ask", work)
        self._delivery.owe(rows)
        if question.state == "open":
            return await self._wait(question)
        return _choice_of(question, question.answer) or "late"

    def count_turns(self) -> int:
        """How many turns wait for an answer now."""
        waiting = (key for key, one in self._waiting.items() if not one.done())
        return len({self._turns_of[key] for key in waiting if key in self._turns_of})

    def interrupt(self, turn_id: TurnId) -> None:
        """The person wrote something else: whoever waits in this turn waits no longer."""
        for question_id, waiting in self._waiting.items():
            if not waiting.done() and self._turns_of.get(question_id) == turn_id:
                waiting.set_result("interrupted")

    async def press(self, reaction: Reaction, key: str) -> None:
        """Take a press of one of our buttons. Raises `StoreError`.

        A key that was made up, or whose question is over, changes nothing.
        """
        found = _KEY.fullmatch(key)
        question_id = QuestionId(int(found["id"])) if found else None

        def find(connection: Connection) -> tuple[Question, str] | None:
            if found is None or question_id is None:
                return None
            question = questions.find(connection, question_id=question_id)
            if question is None or not secrets.compare_digest(question.secret, found["secret"]):
                return None
            return question, found["choice"]

        await self._take(reaction, find)

    async def hear(self, reaction: Reaction, words: str) -> bool:
        """Take words as the answer to a question that is open here, if they are one.

        Raises `StoreError`. An answer is the label, the key or the number of a choice.
        """
        if reaction.person.id not in self._asked:
            return False
        place = (reaction.platform, translate.name_chat(reaction.address))

        def find(connection: Connection) -> tuple[Question, str] | None:
            for question in questions.find_open(connection, person_id=reaction.person.id):
                key = _match(question, words)
                if key and (question.platform, question.chat) == place:
                    return question, key
            return None

        if await self._database.read(find) is None:
            return False
        await self._take(reaction, find)
        return True

    def end_of_turn(self, connection: Connection, turn_id: TurnId, now: int) -> list[OutboxRow]:
        """A turn is over: what it still asks needs no answer; in the caller's transaction."""
        rows = []
        for question in questions.find_open_of_turn(connection, turn_id=turn_id):
            questions.end(connection, question_id=question.id, now=now)
            rows += _close(connection, question, wording.QUESTION_OVER)
        return rows

    def move(
        self, connection: Connection, turn_id: TurnId, place: tuple[str, str], now: int
    ) -> list[OutboxRow]:
        """Ask what a turn waits for elsewhere from now on; in the caller's transaction."""
        rows = []
        for question in questions.find_open_of_turn(connection, turn_id=turn_id):
            rows += _close(connection, question, wording.QUESTION_MOVED)
            questions.move(connection, question_id=question.id, place=place)
            moved = replace(question, platform=place[0], chat=place[1])
            rows.append(self._owe(connection, moved, now))
        return rows

    async def _wait(self, question: Question) -> Choice | Answer:
        waiting = asyncio.get_running_loop().create_future()
        self._waiting[question.id] = waiting
        if question.turn_id is not None:
            self._turns_of[question.id] = question.turn_id
        seconds = max(0.0, (question.expires_at - self._now()) / 1000)
        try:
            async with asyncio.timeout(seconds):
                said = await waiting
        except TimeoutError:
            said = "late"
        finally:
            del self._waiting[question.id]
            self._turns_of.pop(question.id, None)
        chosen = _choice_of(question, said)
        if chosen:
            return chosen
        return await self._give_up(question, "interrupted" if said == "interrupted" else "late")

    async def _give_up(self, question: Question, why: Answer) -> Choice | Answer:
        """Nobody waits any more: end the question, unless it was answered just now."""
        now = self._now()
        words = wording.QUESTION_OVER if why == "interrupted" else wording.QUESTION_LATE

        def work(connection: Connection) -> tuple[Question | None, list[OutboxRow]]:
            if questions.end(connection, question_id=question.id, now=now):
                return None, _close(connection, question, words)
            return questions.find(connection, question_id=question.id), []

        answered, rows = await self._database.write("questions.end", work)
        self._delivery.owe(rows)
        return (_choice_of(question, answered.answer) if answered else None) or why

    async def _take(
        self,
        reaction: Reaction,
        find: Callable[[Connection], tuple[Question, str] | None],
    ) -> None:
        now = self._now()

        def work(connection: Connection) -> tuple[tuple[QuestionId, str] | None, list[OutboxRow]]:
            inbox.finish(connection, inbox_id=reaction.inbox_id, reason="answer")
            found = find(connection)
            if found is None or found[0].state != "open":
                return None, []
            question, key = found
            if not _may_answer(question, reaction):
                return None, [_say(connection, reaction, wording.QUESTION_NOT_YOURS, now)]
            if now >= question.expires_at:
                questions.end(connection, question_id=question.id, now=now)
                return None, _close(connection, question, wording.QUESTION_LATE)
            return self._settle(connection, question, key, reaction, now)

        answered, rows = await self._database.write("questions.answer", work)
        self._delivery.owe(rows)
        if answered:
            waiting = self._waiting.get(answered[0])
            if waiting and not waiting.done():
                waiting.set_result(answered[1])

    def _settle(
        self, connection: Connection, question: Question, key: str, reaction: Reaction, now: int
    ) -> tuple[tuple[QuestionId, str] | None, list[OutboxRow]]:
        if _choice_of(question, key) is None:
            return None, []
        outcome = self._answerers[question.kind](connection, question, key, reaction.person, now)
        if outcome.stays_open:
            return None, [_say(connection, reaction, outcome.words, now), *outcome.rows]
        person_id = reaction.person.id
        questions.answer(connection, question_id=question.id, key=key, by=person_id, now=now)
        rows = _close(connection, question, outcome.words)
        asked = [row for new in outcome.asks for row in self.pose(connection, new, now)]
        return (question.id, key), [*rows, *outcome.rows, *asked]

    def _owe(self, connection: Connection, question: Question, now: int) -> OutboxRow:
        adapter = self._adapters.get(question.platform)
        most = adapter.most_buttons if isinstance(adapter, CanAsk) else 0
        has_buttons = len(question.choices) <= most
        labels = [choice.label for choice in question.choices]
        debt = Debt(
            platform=question.platform,
            chat=question.chat,
            body=question.text if has_buttons else wording.list_choices(question.text, labels),
            person_id=question.person_id,
            turn_id=question.turn_id,
            buttons=_buttons(question) if has_buttons else (),
            question_id=question.id,
        )
        return outbox.owe(connection, debt, now=now)


def drop(connection: Connection, question: Question, words: str, now: int) -> list[OutboxRow]:
    """A question needs no answer any more, and ends in these words; in the caller's transaction."""
    if not questions.end(connection, question_id=question.id, now=now):
        return []
    return _close(connection, question, words)


def make_secret() -> str:
    """What makes the buttons of a question its own."""
    return secrets.token_hex(4)


def _buttons(question: Question) -> tuple[Choice, ...]:
    return tuple(
        replace(choice, key=f"q{question.id}:{choice.key}:{question.secret}")
        for choice in question.choices
    )


def _may_answer(question: Question, reaction: Reaction) -> bool:
    """Whom it was asked may answer, and owners what a turn of others waits for."""
    if question.person_id == reaction.person.id:
        return question.turn_id is not None or reaction.address.is_direct
    return question.turn_id is not None and reaction.person.is_owner


def _close(connection: Connection, question: Question, words: str) -> list[OutboxRow]:
    """The message that asks shows what came of it, and has no buttons any more."""
    row = outbox.find_of_question(connection, question_id=question.id)
    if row is None:
        return []
    body = wording.close_question(question.text, words)
    return [outbox.revise(connection, outbox_id=row.id, body=body)]


def _say(connection: Connection, reaction: Reaction, words: str, now: int) -> OutboxRow:
    chat = translate.name_chat(reaction.address)
    debt = Debt(platform=reaction.platform, chat=chat, body=words, person_id=reaction.person.id)
    return outbox.owe(connection, debt, now=now)


def _choice_of(question: Question, key: str | None) -> Choice | None:
    return next((choice for choice in question.choices if choice.key == key), None)


def _match(question: Question, words: str) -> str | None:
    """The key of the choice that words name, if they are nothing but that."""
    said = " ".join(words.casefold().split()).strip(".!")
    for number, choice in enumerate(question.choices, start=1):
        if said in (choice.label.casefold(), choice.key, str(number)):
            return choice.key
    return None


def _tell_choice(_: Connection, question: Question, key: str, person: Person, __: int) -> Outcome:
    choice = _choice_of(question, key)
    label = choice.label if choice else key
    return Outcome(words=wording.describe_choice(label, person.name))
