"""Turns that wait for their person: they ask in the middle, and go on with the answer."""

import asyncio
from collections.abc import Callable

from agent_core.ids import PersonId, QuestionId, TurnId
from agent_core.state.conversations import questions, turns
from agent_core.state.conversations.questions import Choice, NewQuestion, Question
from agent_core.state.engine.database import Connection, Database
from agent_core.state.jobs import job_runs
from agent_core.state.queues import outbox
from agent_core.state.queues.outbox import NewOutboxMessage, OutboxRow
from agent_core.tools.user_questions import Answer, QuestionPending, UserPrompt
from gateway.outbound.dispatcher import OutboxDispatcher
from gateway.outbound.question_views import choice_of
from gateway.outbound.questions import FOR_OWNER, Questions, drop, make_secret
from gateway.people import owners
from gateway.texts import general
from gateway.turns import finalizer
from gateway.turns.presenter import Presenter

_PATIENCE = 600_000
"""Milliseconds that a turn waits for an answer."""

Work = Callable[[Connection], tuple[Question | Answer, list[OutboxRow]]]
"""What is written about a question, or why there is none, and the messages that it makes owed."""


class UserPrompts:
    """Asks for running turns; see `agent_core.tools.user_prompts.Inquirer`."""

    def __init__(
        self,
        *,
        database: Database,
        dispatcher: OutboxDispatcher,
        questions: Questions,
        now: Callable[[], int],
    ) -> None:
        self._database = database
        self._dispatcher = dispatcher
        self.questions = questions
        self._now = now
        self._waiting: dict[QuestionId, asyncio.Future[str]] = {}
        self._turns_of: dict[QuestionId, TurnId] = {}
        self._presenters: dict[TurnId, Presenter] = {}
        self._is_spoken_to: Callable[[TurnId], bool] = _is_left_alone
        self._is_open = True
        questions.on_answer(self._hear)

    def shown_by(self, turn_id: TurnId, presenter: Presenter | None) -> None:
        """What shows a turn; None once it is over."""
        if presenter is None:
            self._presenters.pop(turn_id, None)
        else:
            self._presenters[turn_id] = presenter

    def heed(self, is_spoken_to: Callable[[TurnId], bool]) -> None:
        """Who knows whether a running turn's person has written what it has not read yet."""
        self._is_spoken_to = is_spoken_to

    def close(self) -> None:
        """The house goes out: turns that wait for an answer are left, their questions open."""
        self._is_open = False
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(QuestionPending())

    async def ask(self, inquiry: UserPrompt) -> Choice | Answer:
        """Ask on behalf of a running turn, and wait; see `Inquirer`."""
        now = self._now()
        turn_id, call_id = inquiry.turn_id, inquiry.call_id
        is_spoken_to = self._is_spoken_to(turn_id)
        presenter = self._presenters.get(turn_id)
        shown = presenter.turn_page() if presenter else ""

        def work(connection: Connection) -> tuple[Question | Answer, list[OutboxRow]]:
            known = questions.find_of_call(connection, turn_id=turn_id, call_id=call_id)
            if known:
                return known, []
            if is_spoken_to:
                return "interrupted", []  # what they wrote may be the answer: that is read first
            is_job = job_runs.find_of_turn(connection, turn_id=turn_id) is not None
            if is_job and not inquiry.is_for_owner:
                return "unreachable", []  # it came by itself: nobody is there
            turn = turns.find(connection, turn_id=turn_id)
            assert turn is not None  # noqa: S101 - no turn is ever deleted
            here = (turn.platform, turn.chat)
            whom = self._choose(connection, inquiry, here)
            if whom is None:
                return "unreachable", []
            new = _word(inquiry, whom, expires_at=now + _PATIENCE)
            kept = finalizer.keep_shown(connection, turn_id, shown)
            rows = self.questions.pose(connection, new, now)
            if new.place != here and not is_job:
                rows.append(_tell_asker(connection, inquiry, here, now))
            return questions.ask(connection, new, now=now), [*kept, *rows]

        question = await self._see_through("questions.ask", work)
        if not isinstance(question, Question):
            return question
        if question.state == "open":
            return await self._wait(question)
        return choice_of(question, question.answer) or "late"

    def _choose(
        self, connection: Connection, inquiry: UserPrompt, here: tuple[str, str]
    ) -> tuple[PersonId, tuple[str, str]] | None:
        """Who is asked, and where: the turn's person where it is answered, or an owner."""
        if not inquiry.is_for_owner:
            return inquiry.person_id, here
        return owners.choose(connection, inquiry.person_id, here, self._dispatcher.adapters)

    def count_turns(self) -> int:
        """How many turns wait for an answer now."""
        waiting = (key for key, one in self._waiting.items() if not one.done())
        return len({self._turns_of[key] for key in waiting if key in self._turns_of})

    def interrupt(self, turn_id: TurnId) -> None:
        """The person wrote something else: whoever waits in this turn waits no longer."""
        for question_id, waiting in self._waiting.items():
            if not waiting.done() and self._turns_of.get(question_id) == turn_id:
                waiting.set_result("interrupted")

    def _hear(self, question_id: QuestionId, key: str) -> None:
        waiting = self._waiting.get(question_id)
        if waiting and not waiting.done():
            waiting.set_result(key)

    async def _wait(self, question: Question) -> Choice | Answer:
        if not self._is_open:
            raise QuestionPending
        if question.turn_id is not None and self._is_spoken_to(question.turn_id):
            return await self._give_up(question, "interrupted")
        waiting = asyncio.get_running_loop().create_future()
        self._waiting[question.id] = waiting
        if question.turn_id is not None:
            self._turns_of[question.id] = question.turn_id
        seconds = max(0.0, (question.expires_at - self._now()) / 1000)
        try:
            async with asyncio.timeout(seconds):
                said = await self._look(question) or await waiting
        except TimeoutError:
            said = "late"
        finally:
            del self._waiting[question.id]
            self._turns_of.pop(question.id, None)
        chosen = choice_of(question, said)
        if chosen:
            return chosen
        return await self._give_up(question, "interrupted" if said == "interrupted" else "late")

    async def _look(self, question: Question) -> str:
        """What came while nobody was waiting yet: the answer, "late" where it is over; else ""."""
        found = await self._database.read(lambda c: questions.find(c, question_id=question.id))
        return "" if found is None or found.state == "open" else found.answer or "late"

    async def _give_up(self, question: Question, why: Answer) -> Choice | Answer:
        """Nobody waits any more: end the question, unless it was answered just now."""
        now = self._now()
        words = general.QUESTION_OVER if why == "interrupted" else general.QUESTION_LATE

        def work(connection: Connection) -> tuple[Question | Answer, list[OutboxRow]]:
            rows = drop(connection, question, words, now)
            return questions.find(connection, question_id=question.id) or why, rows

        answered = await self._see_through("questions.end", work)
        if not isinstance(answered, Question):
            return answered
        return choice_of(question, answered.answer) or why

    async def _see_through(self, name: str, work: Work) -> Question | Answer:
        """Write, and deliver what is owed then, even if the turn is stopped meanwhile."""

        async def carry_out() -> Question | Answer:
            question, rows = await self._database.write(name, work)
            self._dispatcher.enqueue(rows)
            return question

        return await asyncio.shield(carry_out())


def _word(
    inquiry: UserPrompt, whom: tuple[PersonId, tuple[str, str]], expires_at: int
) -> NewQuestion:
    return NewQuestion(
        person_id=whom[0],
        kind=inquiry.kind,
        text=inquiry.text,
        choices=inquiry.choices,
        secret=make_secret(),
        place=whom[1],
        expires_at=expires_at,
        turn_id=inquiry.turn_id,
        call_id=inquiry.call_id,
        payload=FOR_OWNER if inquiry.is_for_owner else "",
    )


def _tell_asker(
    connection: Connection, inquiry: UserPrompt, here: tuple[str, str], now: int
) -> OutboxRow:
    """Why an answer takes long: somebody else has to decide."""
    outgoing = NewOutboxMessage(
        platform=here[0],
        chat=here[1],
        body=general.OWNER_ASKED,
        person_id=inquiry.person_id,
        is_silent=True,
    )
    return outbox.enqueue(connection, outgoing, now=now)


def _is_left_alone(_: TurnId) -> bool:
    """Where nobody tells, nobody has written anything."""
    return False
