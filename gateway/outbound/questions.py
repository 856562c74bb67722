"""Questions to people: asked with buttons, answered once, by those who may answer."""

import json
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from adapters.abilities import CanEdit
from adapters.ids import Address
from agent_core.chats import Chat
from agent_core.ids import InboxId, PersonId, QuestionId, TurnId
from agent_core.localization import Text
from agent_core.schedule.quiet_times import is_quiet
from agent_core.schedule.said_times import reads_as_time
from agent_core.state.conversations import questions
from agent_core.state.conversations.questions import Choice, NewQuestion, Question, QuestionKind
from agent_core.state.engine.database import Connection, Database
from agent_core.state.people import deeds, people, rooms
from agent_core.state.people.deeds import Doer, NewDeed
from agent_core.state.people.people import Person
from agent_core.state.queues import inbox, outbox
from agent_core.state.queues.outbox import NewOutboxMessage, OutboxRow
from gateway.chats import make_chat, read_chat
from gateway.fairness import Signal
from gateway.outbound import question_views, typed_answers
from gateway.outbound.dispatcher import OutboxDispatcher
from gateway.outbound.pending_answers import PendingAnswers
from gateway.outbound.question_views import choice_of
from gateway.texts import general
from gateway.texts.reader_language import speak_to

FOR_OWNER = "owner"
"""The payload of a turn's question to an owner in the owner's own chat.

Payloads of calls are JSON, and store the same fact under this key.
"""
REASON: QuestionKind = "reason"
"""The kind of questions that are answered by any words."""
WHEN: QuestionKind = "when"
"""The kind of questions that words answer if they name a time; other words go to the model."""
_CALL: QuestionKind = "call"
_FORGET: QuestionKind = "forget"
"""The kind of questions which words to delete, also from a group's notes."""

PROPOSAL_LASTS = 7 * 24 * 3_600_000
"""Milliseconds during which a proposal may be accepted."""
_MOST_REFUSED = 4096
_LONGEST_REASON = 4000
_ONLY_PRESSED: frozenset[QuestionKind] = frozenset(("full", "reading"))
"""Kinds of questions that only a button answers: typed words in their chat go to the model."""
_NOTES: QuestionKind = "notes"
_PROPOSAL: QuestionKind = "proposal"
"""The kinds of questions that wait in a chat where a turn may ask something, too."""
_NAMED: frozenset[QuestionKind] = frozenset((_CALL, _NOTES, _PROPOSAL, "erase"))
"""Kinds of questions that a bare yes does not accept: others' words may ask for it, or a word said
in passing would delete a person.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerOutcome:
    """The result of an answer: the closing words of the question's message, and outbox rows.

    Without words, `close_answered` closes the message later.
    With `stays_open` nothing is decided: the words are a message of their own, and the buttons
    stay.
    """

    words: str
    rows: Sequence[OutboxRow] = ()
    stays_open: bool = False
    asks: Sequence[NewQuestion] = ()
    """The questions to ask next."""
    repeats: Sequence[Question] = ()
    """Open questions to ask again in the chat of the answer, because they have to go first."""
    buttons: Sequence[Choice] = ()
    """The buttons below the closing words, such as the one that undoes what was done."""
    is_alone: bool = False
    """Replace the whole question by the words, because nobody should see it any more."""
    says_more: bool = True
    """The words tell more than the choice, and than what follows by itself: where the question's
    message can't be edited, they come alone.
    """


Answerer = Callable[[Connection, Question, str, Person, int], AnswerOutcome]
"""Applies an answer in the transaction that stores it: question, key of the choice, the person who
answers, and the time.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reaction:
    """A person's reaction to a question: a press of a button, or words."""

    inbox_id: InboxId | None
    """The event of the reaction; None for one over the API."""
    platform: str
    address: Address
    person: Person
    quoted: str | None = None
    """The platform's id of the message that words answer, if they answer one."""


Find = Callable[[Connection], tuple[Question, str] | None]
"""Finds the question of a reaction and the key of the choice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Taken:
    """The result of a reaction. `is_used` says that it answered a question."""

    is_used: bool = True
    rows: Sequence[OutboxRow] = ()
    answered: tuple[QuestionId, str] | None = None
    refused: tuple[QuestionId, PersonId] | None = None


class Questions:
    """The open questions; `turns.user_prompts` serves the turns that wait for an answer."""

    def __init__(
        self,
        *,
        database: Database,
        dispatcher: OutboxDispatcher,
        zone_of: Callable[[Person | None], str],
        now: Callable[[], int],
        answerers: Mapping[QuestionKind, Answerer],
    ) -> None:
        """`zone_of` returns the IANA time zone of a person."""
        self._database = database
        self._adapters = dispatcher.adapters
        self._dispatcher = dispatcher
        self._zone_of = zone_of
        self._now = now
        self._answerers: dict[QuestionKind, Answerer] = {
            "choice": _describe_choice,
            "approval": _describe_choice,
            **answerers,
        }
        self._asked: set[PersonId] = set()
        """People who may have an open question; other people's words need no lookup."""
        self._refused: set[tuple[QuestionId, PersonId]] = set()
        """People who already got the note that a question is not theirs."""
        self.answers = PendingAnswers()
        self.answered: Signal[None] = Signal()
        """Emitted after an answer is stored."""

    async def start(self) -> None:
        """Restore the people with open questions of an earlier process. Raises `StoreError`."""
        self._asked.update(await self._database.read(questions.list_people_asked))

    def pose(self, connection: Connection, new: NewQuestion, now: int) -> list[OutboxRow]:
        """Store a question and enqueue its messages, in the caller's transaction.

        A newer question what to forget replaces those about the same words.
        """
        rows: list[OutboxRow] = []
        for one in questions.find_open(connection, person_id=new.person_id):
            is_same = new.kind == _FORGET and (one.kind, one.payload) == (new.kind, new.payload)
            if is_same and one.secret != new.secret:
                rows += drop(connection, one, general.QUESTION_OVER, now)
        question = questions.ask(connection, new, now=now)
        self._asked.add(new.person_id)
        if outbox.find_of_question(connection, question_id=question.id):
            return rows
        return [*rows, *self._enqueue(connection, question, now)]

    def reopen(
        self,
        connection: Connection,
        question: Question,
        *,
        chat: Chat | None,
        expires_at: int,
        now: int,
    ) -> list[OutboxRow]:
        """Open a question again, in the caller's transaction, and ask it in a chat, if any."""
        questions.reopen(connection, question_id=question.id, expires_at=expires_at)
        self._asked.add(question.person_id)
        if chat is None:
            return []
        questions.move(connection, question_id=question.id, chat=chat)
        asked = replace(question, chat=chat, expires_at=expires_at)
        return self._enqueue(connection, asked, now)

    async def press(self, reaction: Reaction, key: str) -> None:
        """Take a press of one of our buttons. Raises `StoreError`.

        A forged key, or one of a closed question, changes nothing.
        """
        await self._take(reaction, lambda c: _find_pressed(c, key), is_press=True)

    async def is_open(self, key: str) -> bool:
        """Return whether a button belongs to a question that waits. Raises `StoreError`."""
        found = await self._database.read(_find_pressed, key)
        return found is not None and found[0].state == "open"

    async def hear(self, reaction: Reaction, words: str) -> bool:
        """Take words as the answer to an open question in this chat; False if they answer none.

        Raises `StoreError`. An answer is the label, the number or the key of a choice. For some
        kinds it is any words, or words for a time.
        """
        if reaction.person.id not in self._asked:
            return False
        adapter = self._adapters.get(reaction.platform)

        def find(connection: Connection) -> tuple[Question, str] | None:
            for question in questions.find_open(connection, person_id=reaction.person.id):
                if question.kind in _ONLY_PRESSED:
                    continue
                if question.kind == REASON and _is_asked_there(question, reaction):
                    return question, words[:_LONGEST_REASON]
                is_time = question.kind == WHEN and reads_as_time(words)
                if is_time and _is_asked_there(question, reaction):
                    return question, words
                has_buttons = question_views.shows_buttons(question, adapter)
                if _is_of_review(question) and _is_asked_there(question, reaction):
                    with speak_to(connection, question.person_id):
                        key = typed_answers.read_note_answer(connection, question, words)
                    if key:
                        return question, key
                if has_buttons and question.kind in (_NOTES, _PROPOSAL):
                    continue  # untrusted words may have made the person type "1" in answer to them
                is_yes = general.read_yes_or_no(words)
                is_by_name = is_yes is not None or (question.kind == _CALL and has_buttons)
                key = question_views.match(
                    question, words, has_buttons=has_buttons, is_by_name=is_by_name
                )
                if not (key or (is_yes and question.kind in _NAMED)):
                    key = typed_answers.read_bare_answer(
                        connection, question, words, reaction.quoted
                    )
                if key and _is_asked_there(question, reaction):
                    return question, key
            return None

        if await self._database.read(find) is None:
            return False
        return await self._take(reaction, find, is_press=False)

    async def decide(self, person: Person, question_id: QuestionId, key: str) -> bool:
        """Take a person's own choice as the answer; False if it answers nothing.

        Raises `StoreError`. A question for a reason is answered by any words.
        """

        def find(connection: Connection) -> tuple[Question, str] | None:
            question = questions.find(connection, question_id=question_id)
            is_own = question is not None and question.person_id == person.id
            return (question, key[:_LONGEST_REASON]) if question and is_own else None

        found = await self._database.read(find)
        if found is None:
            return False
        chat = found[0].chat
        address = read_chat(chat.address)
        reaction = Reaction(inbox_id=None, platform=chat.platform, address=address, person=person)
        if not await self._take(reaction, find, is_press=False):
            return False
        known = await self._database.read(find)
        return known is not None and known[0].state == "answered"

    def end_of_turn(self, connection: Connection, turn_id: TurnId, now: int) -> list[OutboxRow]:
        """Close the questions of a turn that has ended, and ask about what it proposed.

        Works in the caller's transaction.
        """
        rows = []
        for question in questions.find_open_of_turn(connection, turn_id=turn_id):
            if question.kind == _PROPOSAL:
                self._asked.add(question.person_id)
                if outbox.find_of_question(connection, question_id=question.id) is None:
                    rows += self._enqueue(connection, question, now)
                continue
            questions.close(connection, question_id=question.id, now=now)
            rows += _close(connection, question, general.QUESTION_OVER)
        return rows

    def find_card(
        self, connection: Connection, turn_id: TurnId, chat: Chat, answer: str
    ) -> Question | None:
        """Find a turn's first proposal that fits below its answer, in the same message."""
        adapter = self._adapters.get(chat.platform)
        for question in questions.find_open_of_turn(connection, turn_id=turn_id):
            if question.kind == _PROPOSAL and question.chat == chat and adapter:
                is_one = question_views.fits_below(question, adapter, answer)
                return question if is_one else None
        return None

    def move(
        self, connection: Connection, turn_id: TurnId, chat: Chat, now: int
    ) -> list[OutboxRow]:
        """Ask a turn's open questions in another place, in the caller's transaction."""
        rows = []
        for question in questions.find_open_of_turn(connection, turn_id=turn_id):
            if not _is_for_owner(question):
                rows += self._ask_elsewhere(connection, question, chat, now)
        return rows

    def repeat(
        self, connection: Connection, asked: Sequence[Question], chat: Chat, now: int
    ) -> list[OutboxRow]:
        """Ask open questions again in a chat, in the caller's transaction."""
        return [
            row
            for question in asked
            for row in self._ask_elsewhere(connection, question, chat, now)
        ]

    def _ask_elsewhere(
        self, connection: Connection, question: Question, chat: Chat, now: int
    ) -> list[OutboxRow]:
        """Ask an open question in another place; what a turn proposes is asked when it ends."""
        questions.move(connection, question_id=question.id, chat=chat)
        if question.kind == _PROPOSAL:
            return []
        is_here = question.chat == chat
        words = general.QUESTION_AGAIN if is_here else general.QUESTION_MOVED
        rows = _close(connection, question, words)
        return rows + self._enqueue(connection, replace(question, chat=chat), now)

    async def _take(self, reaction: Reaction, find: Find, *, is_press: bool) -> bool:
        """Apply a reaction; False for words that no longer answer anything."""
        now = self._now()

        def work(connection: Connection) -> _Taken:
            found = find(connection)
            if found is None:
                taken = _Taken(is_used=is_press)
            elif found[0].state != "open":
                rows = self._say_over(connection, found[0], reaction, now) if is_press else []
                taken = _Taken(is_used=is_press, rows=rows)
            elif not _may_answer(found[0], reaction):
                taken = self._refuse(connection, found[0], reaction, now)
            elif now >= found[0].expires_at and is_press and found[0].kind == _PROPOSAL:
                taken = _Taken(rows=self._ask_again(connection, found[0], now))
            elif now >= found[0].expires_at:
                words = general.PRESSED_LATE if is_press else general.QUESTION_LATE
                rows = drop(connection, found[0], words, now, says_more=True)
                taken = _Taken(is_used=is_press, rows=rows)
            else:
                taken = self._apply(connection, *found, reaction, now)
            if taken.is_used and reaction.inbox_id is not None:
                inbox.finish(connection, inbox_id=reaction.inbox_id, reason="answer")
            return taken

        taken = await self._database.write("questions.answer", work)
        self._dispatcher.enqueue(taken.rows)
        if taken.refused:
            self._note_refusal(taken.refused)
        if taken.answered:
            self.answers.resolve(*taken.answered)
            self.answered.emit(None)
        return taken.is_used

    def _say_over(
        self, connection: Connection, question: Question, reaction: Reaction, now: int
    ) -> list[OutboxRow]:
        """Say that a question is over where its buttons stay, because no message can be edited."""
        keeps_buttons = not isinstance(self._adapters.get(reaction.platform), CanEdit)
        if not keeps_buttons or not _may_answer(question, reaction):
            return []
        with speak_to(connection, reaction.person.id):
            return [_say(connection, reaction, general.QUESTION_OVER(), now)]

    def _ask_again(self, connection: Connection, question: Question, now: int) -> list[OutboxRow]:
        """Say that a proposal had expired, and ask once more."""
        rows = _close(connection, question, general.QUESTION_EXPIRED, says_more=True)
        end = now + PROPOSAL_LASTS
        again = self.reopen(connection, question, chat=question.chat, expires_at=end, now=now)
        return [*rows, *again]

    def _refuse(
        self, connection: Connection, question: Question, reaction: Reaction, now: int
    ) -> _Taken:
        """Tell a person once that the question is not theirs."""
        who = (question.id, reaction.person.id)
        if who in self._refused:
            return _Taken()
        reported = _say(connection, reaction, general.QUESTION_NOT_YOURS(), now)
        return _Taken(rows=[reported], refused=who)

    def _note_refusal(self, refused: tuple[QuestionId, PersonId]) -> None:
        if len(self._refused) >= _MOST_REFUSED:
            self._refused.clear()
        self._refused.add(refused)

    def _apply(
        self, connection: Connection, question: Question, key: str, reaction: Reaction, now: int
    ) -> _Taken:
        if question.kind not in (REASON, WHEN) and choice_of(question, key) is None:
            return _Taken()
        outcome = self._answerers[question.kind](connection, question, key, reaction.person, now)
        if outcome.stays_open:
            said = _say(connection, reaction, outcome.words, now)
            chat = make_chat(reaction.platform, reaction.address)
            again = self.repeat(connection, outcome.repeats, chat, now)
            return _Taken(rows=[said, *outcome.rows, *again])
        person_id = reaction.person.id
        questions.answer(connection, question_id=question.id, key=key, by=person_id, now=now)
        _note_refusal(connection, question, key, reaction, now)
        words = self._dispatcher.format_commands(question.chat.platform, outcome.words)
        closing = partial(
            _close,
            is_alone=outcome.is_alone,
            says_more=outcome.says_more,
            buttons=outcome.buttons,
        )
        rows = closing(connection, question, words) if words else []
        asked = [row for new in outcome.asks for row in self.pose(connection, new, now)]
        return _Taken(rows=[*rows, *outcome.rows, *asked], answered=(question.id, key))

    def _enqueue(self, connection: Connection, question: Question, now: int) -> list[OutboxRow]:
        """Enqueue a question's messages, silent in the quiet hours of the person asked.

        So is one about notes, for a person who wants to learn of them silently.
        """
        person = people.find(connection, person_id=question.person_id)
        is_silent = person is not None and (
            is_quiet(person, self._zone_of(person), now)
            or (_is_of_review(question) and person.learning == "quiet")
        )
        adapter = self._adapters.get(question.chat.platform)
        with speak_to(connection, question.person_id):
            outgoings = question_views.compose(question, adapter, is_silent=is_silent)
        return [outbox.enqueue(connection, outgoing, now=now) for outgoing in outgoings]


def drop(
    connection: Connection,
    question: Question,
    words: Text | str,
    now: int,
    *,
    says_more: bool = False,
) -> list[OutboxRow]:
    """Close a question that needs no answer any more, in the caller's transaction.

    `says_more` means that its person has just answered, and has to learn of it.
    """
    if not questions.close(connection, question_id=question.id, now=now):
        return []
    return _close(connection, question, words, says_more=says_more)


def close_answered(
    connection: Connection, question: Question, words: str, buttons: Sequence[Choice] = ()
) -> list[OutboxRow]:
    """Say in an answered question's message what became of it, in the caller's transaction."""
    return _close(connection, question, words, says_more=True, buttons=buttons)


def _find_pressed(connection: Connection, key: str) -> tuple[Question, str] | None:
    """Return the question of a button, and the choice that the button stands for."""
    pressed = question_views.read_key(key)
    if pressed is None:
        return None
    question = questions.find(connection, question_id=pressed.question_id)
    return (question, pressed.choice) if question and pressed.opens(question) else None


def _is_for_owner(question: Question) -> bool:
    """Return whether an owner is asked in their own chat."""
    if question.kind in (_CALL, REASON) and question.payload:
        return bool(json.loads(question.payload)[FOR_OWNER])
    return question.payload == FOR_OWNER


def _is_of_review(question: Question) -> bool:
    """Return whether a question is about notes of reviews, which rest on the person's own words."""
    is_note = question.kind == _PROPOSAL and (question.call_id or "").startswith("review:")
    return is_note or question.kind == _NOTES


def _may_answer(question: Question, reaction: Reaction) -> bool:
    """Allow the person asked and, for questions of others' turns, owners."""
    if question.person_id == reaction.person.id:
        is_own = question.turn_id is not None or question.kind in (*_ONLY_PRESSED, WHEN, _FORGET)
        return is_own or reaction.address.is_direct
    return question.turn_id is not None and reaction.person.is_owner


def make_secret() -> str:
    """Return a random secret that ties buttons to their question."""
    return secrets.token_hex(4)


def _is_asked_there(question: Question, reaction: Reaction) -> bool:
    """Return whether a question is open in the reaction's place; tickets name no place."""
    asked, said = read_chat(question.chat.address), reaction.address
    is_same = replace(asked, ticket=None) == replace(said, ticket=None)
    return is_same and question.chat.platform == reaction.platform


def _close(
    connection: Connection,
    question: Question,
    words: Text | str,
    *,
    is_alone: bool = False,
    says_more: bool = False,
    buttons: Sequence[Choice] = (),
) -> list[OutboxRow]:
    """Show the result in the question's message, in place of its buttons; see `AnswerOutcome`."""
    row = outbox.find_of_question(connection, question_id=question.id)
    if row is None:
        return []
    with speak_to(connection, question.person_id):
        outcome = words if isinstance(words, str) else words()
        body = outcome if is_alone else question_views.close(question, row, outcome)
    revised = outbox.revise(
        connection,
        outbox_id=row.id,
        body=body,
        buttons=tuple(buttons),
        outcome_at=len(body) - len(outcome) if says_more else None,
    )
    return [revised]


def _note_refusal(
    connection: Connection, question: Question, key: str, reaction: Reaction, now: int
) -> None:
    """Record a no, which changed nothing, so that `/undo` asks before an older change."""
    choice = choice_of(question, key)
    if choice is None or key not in typed_answers.REFUSALS:
        return
    address, person_id = reaction.address, reaction.person.id
    room = None
    if not address.is_direct:
        room = rooms.find(connection, platform=reaction.platform, chat_id=address.chat_id)
    doer = Doer(
        person_id=person_id,
        owner_id=room.person_id if room else person_id,
        platform=reaction.platform,
    )
    deeds.record(connection, doer, NewDeed(did=choice.label), now=now)


def _say(connection: Connection, reaction: Reaction, words: str, now: int) -> OutboxRow:
    outgoing = NewOutboxMessage(
        chat=make_chat(reaction.platform, reaction.address),
        body=words,
        person_id=reaction.person.id,
        is_silent=True,
    )
    return outbox.enqueue(connection, outgoing, now=now)


def _describe_choice(
    _: Connection, question: Question, key: str, person: Person, __: int
) -> AnswerOutcome:
    choice = choice_of(question, key)
    label = choice.label if choice else key
    return AnswerOutcome(words=general.describe_choice(label, person.name), says_more=False)
