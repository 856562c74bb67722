"""Ask a person in the middle of a turn, and continue with the answer."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from agent_core.chats import Chat
from agent_core.ids import CallId, PersonId, TurnId
from agent_core.state.conversations import approvals as allowed
from agent_core.state.conversations import questions, turns
from agent_core.state.conversations.questions import Choice, NewQuestion, Question
from agent_core.state.conversations.turns import StoredTurn
from agent_core.state.engine.database import Connection, Database
from agent_core.state.jobs import job_runs
from agent_core.state.queues import outbox
from agent_core.state.queues.outbox import NewOutboxMessage, OutboxRow
from agent_core.tools.policy.approval_requests import ApprovalRequest, Decision
from agent_core.tools.user_questions import WORDS, Answer, Proposal, QuestionPending, UserPrompt
from gateway.outbound.dispatcher import OutboxDispatcher
from gateway.outbound.question_views import choice_of
from gateway.outbound.questions import FOR_OWNER, REASON, Questions, drop, make_secret
from gateway.people.owner_notices import choose_owner, find_place
from gateway.texts import approvals, general
from gateway.turns.answer_messages import end_live, open_reply
from gateway.turns.call_approvals import (
    ALLOWED,
    WHY,
    load_bound,
    make_call_question,
    name_reason,
    record_decision,
)
from gateway.turns.handle import TurnHandles
from gateway.turns.presenter import LiveEnding, Presenter, held
from gateway.turns.proposals import MOST_PROPOSALS, make_question

ANSWER_PATIENCE = 600_000
"""Milliseconds that a turn waits for an answer."""

Work = Callable[[Connection], tuple[Question | Answer, list[OutboxRow]]]
"""Writes a question or learns why there is none; returns the messages to deliver with it."""


Whom = tuple[PersonId, Chat]
"""A person to ask, and their (platform, chat)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wish:
    """A question of one call. `make` builds it for the person asked, with its time of expiry."""

    person_id: PersonId
    turn_id: TurnId
    call_id: CallId
    is_for_owner: bool
    asks_in_jobs: bool
    make: Callable[[Connection, Whom, int], NewQuestion]


@dataclass(frozen=True, slots=True, kw_only=True)
class UserPrompts:
    """Asks for running turns; see `agent_core.tools.user_questions.UserPrompter`."""

    database: Database
    dispatcher: OutboxDispatcher
    questions: Questions
    handles: TurnHandles
    now: Callable[[], int]
    patience: int = ANSWER_PATIENCE
    """Milliseconds that a turn waits for an answer."""

    async def ask(self, inquiry: UserPrompt) -> Choice | Answer:
        """Ask on behalf of a running turn, and wait; see `UserPrompter`."""
        wish = _Wish(
            person_id=inquiry.person_id,
            turn_id=inquiry.turn_id,
            call_id=inquiry.call_id,
            is_for_owner=inquiry.is_for_owner,
            asks_in_jobs=inquiry.is_for_owner,  # nobody waits in the chat of a job
            make=lambda _, whom, expires_at: _make_question(inquiry, whom, expires_at),
        )
        return await self._ask(wish)

    async def approve(self, request: ApprovalRequest) -> Decision:
        """Ask whether exactly this call may run, and wait; see `Approver`."""
        wish = _Wish(
            person_id=request.person_id,
            turn_id=request.turn_id,
            call_id=request.call_id,
            is_for_owner=request.is_for_owner,
            asks_in_jobs=True,
            make=lambda c, whom, expires_at: make_call_question(c, request, whom, expires_at),
        )
        answer = await self._ask(wish)
        asked = await self.database.read(
            questions.find_of_call, turn_id=request.turn_id, call_id=request.call_id
        )
        bound = load_bound(asked) if asked else None
        if asked and (bound is None or bound.digest != request.digest):
            return Decision(refusal="changed")  # an earlier process asked about another call
        if not isinstance(answer, Choice):
            await self.database.write(
                "approvals.none",
                record_decision,
                request,
                answer,
                "talaria",
                self.now(),
            )
            return Decision(refusal=answer)
        if answer.key in ALLOWED:
            return Decision()
        why = await self._hear_reason(request) if answer.key == WHY else ""
        return Decision(refusal="no", why=why)

    async def use(self, request: ApprovalRequest) -> bool:
        """Use up the approval of a request, right before its call begins; see `Approver`."""
        person_id, digest = request.person_id, request.digest
        return await self.database.write(
            "approvals.use",
            allowed.use,
            person_id=person_id,
            digest=digest,
            now=self.now(),
        )

    async def _hear_reason(self, request: ApprovalRequest) -> str:
        """Wait for the reason for a no; "" if none comes."""
        turn_id, call_id = request.turn_id, name_reason(request.call_id)
        asked = await self.database.read(questions.find_of_call, turn_id=turn_id, call_id=call_id)
        if asked and asked.state == "open":
            await self._hear(asked)
            closed = await self._close(asked, "late")
            asked = closed if isinstance(closed, Question) else None
        return asked.answer or "" if asked else ""

    async def _ask(self, inquiry: _Wish) -> Choice | Answer:
        now = self.now()
        turn_id, call_id = inquiry.turn_id, inquiry.call_id
        has_news = self._has_news(turn_id)
        presenter = self._find_presenter(turn_id)
        shown, was_draft = presenter.end_live_message() if presenter else ("", False)
        kept = LiveEnding()

        def work(connection: Connection) -> tuple[Question | Answer, list[OutboxRow]]:
            nonlocal kept
            known = questions.find_of_call(connection, turn_id=turn_id, call_id=call_id)
            if known:
                return known, []
            if has_news:
                return (
                    "interrupted",
                    [],
                )  # their message may be the answer, or is a wish that comes next
            is_job = job_runs.find_of_turn(connection, turn_id=turn_id) is not None
            if is_job and not inquiry.asks_in_jobs:
                return "unreachable", []
            turn = turns.find(connection, turn_id=turn_id)
            assert turn is not None  # noqa: S101 - no turn is ever deleted
            here = turn.place.chat
            whom = self._choose(connection, inquiry, here)
            if whom is None:
                return "unreachable", []
            new = inquiry.make(connection, whom, now + self.patience)
            kept = self._keep_shown(connection, turn, shown, now, was_draft=was_draft)
            rows = self.questions.pose(connection, new, now)
            if new.chat != here and inquiry.is_for_owner and not is_job:
                rows.append(_notify_asker(connection, inquiry, here, now))
            return questions.ask(connection, new, now=now), [*kept.rows, *rows]

        question = await self._write("questions.ask", work)
        if presenter:
            presenter.continue_below(kept)
        if not isinstance(question, Question):
            return question
        if question.state == "open":
            return await self._wait(question)
        return _read_answer(question, question.answer) or "late"

    async def propose(self, proposal: Proposal) -> bool:
        """Store a proposal; the finalizer asks about it. See `UserPrompter`."""
        now, turn_id = self.now(), proposal.turn_id

        def work(connection: Connection) -> bool:
            if questions.find_of_call(connection, turn_id=turn_id, call_id=proposal.call_id):
                return True
            turn = turns.find(connection, turn_id=turn_id)
            assert turn is not None  # noqa: S101 - no turn is ever deleted
            stored = questions.find_open_of_turn(connection, turn_id=turn_id)
            if sum(question.kind == "proposal" for question in stored) >= MOST_PROPOSALS:
                return False
            here = turn.place.chat
            chat = find_place(connection, turn.person_id, here, self.dispatcher.adapters)
            if chat is None:
                return False
            questions.ask(connection, make_question(proposal, chat, now), now=now)
            return True

        return await self.database.write("questions.propose", work)

    def _choose(self, connection: Connection, inquiry: _Wish, here: Chat) -> Whom | None:
        """Return the person to ask and the place: the turn's own, or an owner's."""
        if not inquiry.is_for_owner:
            chat = find_place(connection, inquiry.person_id, here, self.dispatcher.adapters)
            return (inquiry.person_id, chat) if chat else None
        return choose_owner(connection, inquiry.person_id, here, self.dispatcher.adapters)

    def _find_presenter(self, turn_id: TurnId) -> Presenter | None:
        handle = self.handles.find(turn_id)
        return handle.presenter if handle else None

    def _keep_shown(
        self, connection: Connection, turn: StoredTurn, text: str, now: int, *, was_draft: bool
    ) -> LiveEnding:
        """Make the words above a question final."""
        adapter = self.dispatcher.adapters.get(turn.place.chat.platform)
        if adapter is None:
            return LiveEnding()
        reply = open_reply(turn)
        is_shown = was_draft or outbox.find_live(connection, turn_id=turn.id) is not None
        return end_live(connection, reply, text if is_shown else "", adapter, now)

    def _has_news(self, turn_id: TurnId) -> bool:
        handle = self.handles.find(turn_id)
        return handle is not None and handle.has_news()

    async def _wait(self, question: Question) -> Choice | Answer:
        said = await self._hear(question)
        if said not in ("interrupted", "late") and (chosen := _read_answer(question, said)):
            return chosen
        return await self._end(question, "interrupted" if said == "interrupted" else "late")

    async def _hear(self, question: Question) -> str:
        """Wait for the answer; "interrupted" or "late" if there is none."""
        turn_id = question.turn_id
        if not self.questions.answers.is_open:
            raise QuestionPending
        if turn_id is not None and self._has_news(turn_id):
            return "interrupted"
        seconds = max(0.0, (question.expires_at - self.now()) / 1000)
        presenter = self._find_presenter(turn_id) if turn_id is not None else None
        with self.questions.answers.expect(question) as answer, held(presenter):
            try:
                async with asyncio.timeout(seconds):
                    return await self._look(question) or await answer
            except TimeoutError:
                return "late"

    async def _look(self, question: Question) -> str:
        """Return the answer given before the wait, "late" if the question is over, else ""."""
        found = await self.database.read(questions.find, question_id=question.id)
        return "" if found is None or found.state == "open" else found.answer or "late"

    async def _end(self, question: Question, why: Answer) -> Choice | Answer:
        """End a question that no turn waits for, unless it was answered just now."""
        answered = await self._close(question, why)
        if not isinstance(answered, Question):
            return answered
        return _read_answer(answered, answered.answer) or why

    async def _close(self, question: Question, why: Answer) -> Question | Answer:
        """Close a question if it is open, and return it as it is stored."""
        now = self.now()
        words = general.QUESTION_OVER if why == "interrupted" else general.QUESTION_LATE

        def work(connection: Connection) -> tuple[Question | Answer, list[OutboxRow]]:
            rows = drop(connection, question, words, now)
            return questions.find(connection, question_id=question.id) or why, rows

        return await self._write("questions.close", work)

    async def _write(self, name: str, work: Work) -> Question | Answer:
        """Write, and deliver the messages, even if the turn is stopped meanwhile."""

        async def carry_out() -> Question | Answer:
            question, rows = await self.database.write(name, work)
            self.dispatcher.enqueue(rows)
            return question

        return await asyncio.shield(carry_out())


def _read_answer(question: Question, said: str | None) -> Choice | None:
    """Return the choice of an answer; a question for words takes any."""
    if chosen := choice_of(question, said):
        return chosen
    if question.kind != REASON or not said:
        return None
    return Choice(key=WORDS, label=said)


def _make_question(inquiry: UserPrompt, whom: Whom, expires_at: int) -> NewQuestion:
    return NewQuestion(
        person_id=whom[0],
        kind=REASON if inquiry.kind == "words" else inquiry.kind,
        text=approvals.add_sources(inquiry.text, inquiry.sources),
        choices=inquiry.choices,
        secret=make_secret(),
        chat=whom[1],
        expires_at=expires_at,
        turn_id=inquiry.turn_id,
        call_id=inquiry.call_id,
        payload=FOR_OWNER if inquiry.is_for_owner else "",
    )


def _notify_asker(connection: Connection, inquiry: _Wish, here: Chat, now: int) -> OutboxRow:
    """Enqueue a note that an owner has to decide, which may take long."""
    outgoing = NewOutboxMessage(
        chat=here,
        body=general.OWNER_ASKED(),
        person_id=inquiry.person_id,
        is_silent=True,
    )
    return outbox.enqueue(connection, outgoing, now=now)
