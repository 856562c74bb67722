"""Changes that a turn only proposed: asked at its end, made once the person accepts."""

import json
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from agent_core.agent.accepted_calls import AcceptedCall, AcceptedCalls
from agent_core.agent.review.claim_check import Claim
from agent_core.agent.review.feed import LearnedEntry, list_records
from agent_core.agent.review.profile import name_section
from agent_core.agent.review.record import HeldClaim, dump_record
from agent_core.agent.review.replacing import find_replaced
from agent_core.agent.review.room import Room, name_freeing
from agent_core.chats import Chat
from agent_core.ids import CallId, PersonId, QuestionId, TaskId
from agent_core.localization import use_language
from agent_core.memory.approval import name_list, show_changes
from agent_core.memory.edits_within_limits import Edit
from agent_core.state.conversations import messages, questions, sessions, turns
from agent_core.state.conversations.questions import Choice, NewQuestion, Question
from agent_core.state.engine.database import Connection, Database
from agent_core.state.memory import ledger
from agent_core.state.memory.ledger import Change, LedgerEntry
from agent_core.state.people import deeds, people, rooms
from agent_core.state.people.deeds import Doer
from agent_core.state.people.people import Person
from agent_core.state.queues import outbox, tasks
from agent_core.state.queues.outbox import NewOutboxMessage, OutboxRow
from agent_core.state.queues.tasks import Task
from agent_core.tools.clock import ReaderClock
from agent_core.tools.user_questions import Proposal
from agent_core.transcript import Receipt, ToolCallPart
from gateway.chats import is_direct_chat
from gateway.job_turns import find_job_turn
from gateway.outbound.command_buttons import (
    make_undo_button,
    make_undo_buttons_of_call,
    offer_command,
    stand_for,
)
from gateway.outbound.dispatcher import OutboxDispatcher
from gateway.outbound.questions import (
    PROPOSAL_LASTS,
    AnswerOutcome,
    close_answered,
    make_secret,
)
from gateway.people.owner_notices import find_direct_chat
from gateway.texts import approvals
from gateway.texts import learning as notices
from gateway.texts.memory import UNDO, offer_undo
from gateway.texts.reader_language import speak_to
from gateway.turns.overdue_proposals import (
    is_later,
    move_later,
    offer_times,
)

_log = logging.getLogger(__name__)

PROPOSAL_TASK = "proposal"
"""The kind of the task that makes an accepted change."""
MOST_PROPOSALS = 5
"""Proposals of one turn; more would bury its answer."""
_MOST_REFUSED = 30
"""Changes that can be brought back: as many as the page Memory shows of the ledger."""
_MOST_UNDO = 5
"""Undo buttons below a notice or a list; `/undo NAME` undoes any entry."""
_CHECKED = ":checked"
"""The end of the payload of a task whose change was found to be the one that was shown."""
ACCEPT, DISMISS = "accept", "dismiss"
CHOICES = (ACCEPT, DISMISS)
"""The keys of the answers to a proposal."""
_COMPARED = ("memory", "archive", "skill_manage")
"""Tools whose change must be the one that was shown, when it is made."""
NoteRef = tuple[TaskId, int]
"""A note that waits: the number of its review, and its number there."""


def make_question(
    proposal: Proposal,
    chat: Chat,
    now: int,
    evidence: str = "",
    following: Sequence[NoteRef] = (),
) -> NewQuestion:
    """Make the question for a proposal in the reader's language. `chat` is a (platform, chat).

    `evidence` replaces what the person said in the turn. `following` are the notes to ask about
    after the answer.
    """
    return NewQuestion(
        person_id=proposal.person_id,
        kind="proposal",
        text=approvals.propose(proposal.shown, proposal.sources),
        choices=(
            Choice(key=ACCEPT, label=approvals.ACCEPT(), style="good"),
            Choice(key=DISMISS, label=approvals.DISMISS()),
        ),
        secret=make_secret(),
        chat=chat,
        expires_at=now + PROPOSAL_LASTS,
        turn_id=proposal.turn_id,
        call_id=proposal.call_id,
        payload=json.dumps(
            {
                "tool": proposal.tool,
                "arguments": proposal.arguments,
                "sources": proposal.sources,
                "evidence": evidence,
                "shown": proposal.shown if proposal.tool in _COMPARED else "",
                "following": following,
            },
            ensure_ascii=False,
        ),
    )


def _ask_about_claim(
    task_id: TaskId,
    held: HeldClaim,
    replaced: str,
    whom: tuple[PersonId, Chat],
    now: int,
    following: Sequence[NoteRef],
) -> NewQuestion:
    """Make the question about a claim that a review holds back, in the reader's language.

    A yes makes the change as if the person had asked for it in the turn that it rests on, unless
    the note `replaced` that goes for it has changed since.
    """
    claim, lesson = held.claim, held.lesson
    person_id, chat = whom
    tool = "archive" if claim.target == "archive" else "memory"
    arguments = {"action": "add", "target": claim.target, "text": claim.text}
    if replaced:
        arguments |= {"action": "replace", "old": replaced}
    if claim.target == "archive":
        arguments = {"action": "insert", "text": claim.text}
    if lesson and lesson.skill:
        tool = "skill_manage"
        arguments = {"action": "patch" if lesson.old else "create", "name": lesson.skill}
        arguments |= {"old": lesson.old, "text": lesson.text}
    proposal = Proposal(
        person_id=person_id,
        turn_id=held.turn_id,
        call_id=CallId(name_section(f"review:{task_id}:{held.number}", claim.section)),
        tool=tool,
        arguments=json.dumps(arguments, ensure_ascii=False),
        shown="" if lesson else _show_claim(claim, replaced),
        sources=(),
    )
    evidence = "\n\n".join(map(notices.show_trace, lesson.traces)) if lesson else ""
    question = make_question(proposal, chat, now, evidence, following)
    if lesson:
        return replace(question, text=notices.ask_about_lesson(lesson))
    doubt = find_doubt(held, replaced)
    return replace(question, text=notices.ask_about(claim, doubt, replaced))


def find_doubt(held: HeldClaim, replaced: str) -> str:
    """Return why a claim waits; the note that it was to replace may be gone."""
    is_gone = held.doubt == "replace" and not replaced
    return "gone" if is_gone else held.doubt


def _show_claim(claim: Claim, replaced: str) -> str:
    """Format the change that a claim makes as the tool that makes it does."""
    if claim.target == "archive":
        return ""
    change = Change(
        operation="replace" if replaced else "add",
        position=0,
        before=replaced or None,
        after=claim.text,
    )
    return f"{name_list(claim.target)}\n{show_changes([change])}"


def list_held(connection: Connection, person_id: PersonId) -> list[tuple[TaskId, HeldClaim]]:
    """List the claims that wait for a person's yes, oldest first, with their reviews.

    Claims from turns of another person, whose account was unlinked since, are left out.
    """
    return [
        (task_id, held)
        for task_id, record in reversed(list_records(connection, person_id=person_id))
        for held in record.held
        if turns.find_of_person(connection, turn_id=held.turn_id, person_id=person_id)
    ]


def take_held(
    connection: Connection,
    person_id: PersonId,
    number: tuple[int, int],
    chat: Chat,
    now: int,
    following: Sequence[NoteRef] = (),
) -> NewQuestion | None:
    """Take a claim off its review, and make the question about it; None if it does not wait.

    `number` holds the number of the review and the number of the claim. Its answer leads to the
    question about the first of the `following` notes that still waits.
    """
    for task_id, held in list_held(connection, person_id):
        if (task_id, held.number) == number:
            record = dict(list_records(connection, person_id=person_id))[task_id]
            left = replace(record, held=tuple(one for one in record.held if one != held))
            tasks.save(connection, task_id=task_id, payload=dump_record(left))
            replaced = find_replaced(connection, person_id=person_id, claim=held.claim)
            return _ask_about_claim(task_id, held, replaced, (person_id, chat), now, following)
    return None


def list_refused(connection: Connection, person_id: PersonId) -> list[Question]:
    """List the changes that a person did not accept and can still bring back, newest first.

    Changes from turns of another person, whose account was unlinked since, are left out.
    """
    return [
        question
        for question in questions.list_refused(connection, person_id=person_id, limit=_MOST_REFUSED)
        if question.turn_id
        and turns.find_of_person(connection, turn_id=question.turn_id, person_id=person_id)
    ]


def name_change(question: Question) -> str:
    """Return the text that a proposal would write, or its question if it writes no text."""
    asked = json.loads(question.payload)
    return str(json.loads(asked["arguments"]).get("text") or question.text)


def make_learned_buttons(learned: Sequence[LearnedEntry]) -> tuple[Choice, ...]:
    """Return a button to undo each learned entry, in the reader's language."""
    return tuple(
        stand_for(f"undo {one.name}", offer_undo(one.text, None)) for one in learned[:_MOST_UNDO]
    )


def make_restore_buttons(moved: Sequence[LedgerEntry]) -> tuple[Choice, ...]:
    """Return a button to restore each note that made room, in the reader's language."""
    return tuple(
        make_undo_button(row, offer_undo(None, row.change.before)) for row in moved[:_MOST_UNDO]
    )


def answer_proposal(
    connection: Connection, question: Question, key: str, _: Person, now: int
) -> AnswerOutcome:
    """Enqueue the change of an accepted proposal, in the transaction of the answer."""
    asked = json.loads(question.payload).get("following", ())
    asks = ask_first(connection, question.person_id, asked, question.chat, now)
    if key != ACCEPT and not is_later(key):
        return AnswerOutcome(words=approvals.DISMISSED(), asks=asks)
    if is_later(key):
        moved = move_later(question, key, now)
        questions.set_payload(
            connection, person_id=question.person_id, question_id=question.id, payload=moved
        )
    enqueue_change(connection, question, now)
    return AnswerOutcome(words="", asks=asks)  # what became of it is said once that is known


def ask_first(
    connection: Connection, person_id: PersonId, notes: Sequence[NoteRef], chat: Chat, now: int
) -> list[NewQuestion]:
    """Make the question about the first of these notes that still waits, if one does."""
    for place, (task_id, number) in enumerate(notes, 1):
        ref, following = (task_id, number), notes[place:]
        if question := take_held(connection, person_id, ref, chat, now, following):
            return [question]
    return []


def enqueue_change(connection: Connection, question: Question, now: int) -> None:
    """Queue the change of an accepted proposal, once.

    One that came too late may be accepted again, with another time.
    """
    again = f":{now}" if is_later(question.choices[0].key) else ""
    tasks.enqueue(
        connection,
        kind=PROPOSAL_TASK,
        key=f"question:{question.id}{again}",
        person_id=question.person_id,
        payload=str(question.id),
        now=now,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Accepted:
    """An accepted call, and the change as its person was shown it; "" if it is not compared."""

    call: AcceptedCall
    shown: str
    receipts: Sequence[Receipt] = ()


def _describe_accepted(question: Question, made: _Accepted) -> str:
    """Say what was made of a proposal; a new time is named, because the card shows the old one."""
    if is_later(question.answer or "") and made.receipts:
        return made.receipts[0].text
    return approvals.ACCEPTED()


def _is_card(question: Question, made: _Accepted) -> bool:
    """Return whether a card in the person's own chat shows the whole change already."""
    is_of_turn = not (question.call_id or "").startswith("review:")
    is_own = made.call.conversation.kind == "direct" and is_direct_chat(question.chat.address)
    return is_of_turn and is_own


def _is_same(now: str, shown: str) -> bool:
    """Return whether two changes differ in nothing but the name of their list above them."""
    return now == shown or now.partition("\n")[2] == shown.partition("\n")[2] != ""


def _name_call(accepted: AcceptedCall) -> str:
    return f"{accepted.turn.id}:{accepted.call.call_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedProposals:
    """Makes the changes of accepted proposals."""

    database: Database
    dispatcher: OutboxDispatcher
    calls: AcceptedCalls
    room: Room
    zone_of: Callable[[Person], str]
    now: Callable[[], int]

    async def apply(self, task: Task) -> None:
        """Make one change; a repeated task makes it once. Raises `StoreError`.

        If it is no longer possible, the person gets a message.
        """
        question_id = QuestionId(int(task.payload.removesuffix(_CHECKED)))
        accepted = await self.database.read(self._load, question_id)
        if accepted and not task.payload.endswith(_CHECKED):
            now = await self._preview(accepted)
            if accepted.shown and now and not _is_same(now, accepted.shown):
                _log.info("an accepted change is not made: it is no longer what was shown")
                accepted = None
            else:  # after a crash, the change itself may be what differs
                payload = f"{question_id}{_CHECKED}"
                await self.database.write(
                    "proposals.checked", tasks.save, task_id=task.id, payload=payload
                )
                # The question about a lesson shows both texts in words of its own.
                accepted = replace(accepted, shown=accepted.shown or now)
        result = await self.calls.run(accepted.call) if accepted else None
        if accepted and result and result.is_error and await self._make_room(accepted.call):
            result = await self.calls.run(accepted.call)
        is_made = result is not None and not result.is_error
        if result and not is_made:
            _log.info("an accepted change is not possible: %s", result.text)
        done = None
        if accepted and result and is_made:
            done = replace(accepted, receipts=result.receipts)
        due_at = result.due_at if result else None
        rows = await self.database.write(
            "proposals.report", self._report, question_id, done, due_at
        )
        self.dispatcher.enqueue(rows)

    async def _make_room(self, accepted: AcceptedCall) -> bool:
        """Move notes out of a full list, so that what the person accepted is not lost."""
        asked = json.loads(accepted.call.arguments)
        if accepted.call.name != "memory" or asked["action"] not in ("add", "replace"):
            return False
        if self.calls.find_owner(accepted) != accepted.person.id:
            return False
        edit = Edit(
            action=asked["action"],
            target=asked["target"],
            text=asked["text"],
            old=asked.get("old", ""),
        )
        return await self.room.free(accepted.person, edit, _name_call(accepted))

    async def _preview(self, accepted: _Accepted) -> str:
        """Describe what a change takes away and brings now; "" if it is not compared."""
        if accepted.call.call.name not in _COMPARED:
            return ""
        with use_language(accepted.call.person.language):
            return await self.calls.preview(accepted.call)

    def _report(
        self,
        connection: Connection,
        question_id: QuestionId,
        made: _Accepted | None,
        due_at: int | None = None,
    ) -> list[OutboxRow]:
        """Say what a change took away and brought, with a button to undo it, or that it failed.

        For a reminder whose time `due_at` has passed, it offers new times. The words of a private
        memory go where the person was asked, and to no room.
        """
        question = questions.find(connection, question_id=question_id)
        if question is None:
            return []
        rows = self._report_moves(connection, made.call) if made else []
        if made:
            self._note_deeds(connection, made, question.chat.platform)
        if due_at is not None:
            return self._offer_times(connection, question, due_at)
        with speak_to(connection, question.person_id):
            words = _describe_accepted(question, made) if made else approvals.OUTDATED()
            undo = self._offer_undo(connection, made) if made and _is_card(question, made) else ()
        closed = close_answered(connection, question, words, undo)
        return [*closed, *rows, *self._report_change(connection, question, made)]

    def _note_deeds(self, connection: Connection, made: _Accepted, platform: str) -> None:
        """Record what an accepted call has done, for `/undo`."""
        person_id, owner_id = made.call.person.id, self.calls.find_owner(made.call)
        doer = Doer(person_id=person_id, owner_id=owner_id or person_id, platform=platform)
        deeds.record_receipts(connection, doer, made.receipts, now=self.now())

    def _offer_times(
        self, connection: Connection, question: Question, due_at: int
    ) -> list[OutboxRow]:
        person, now = people.find(connection, person_id=question.person_id), self.now()
        if person is None:
            return []
        with speak_to(connection, person.id):
            return offer_times(
                connection,
                question,
                due_at,
                clock=ReaderClock(zone=self.zone_of(person), now=now),
                adapter=self.dispatcher.adapters.get(question.chat.platform),
                expires_at=now + PROPOSAL_LASTS,
            )

    def _report_moves(self, connection: Connection, call: AcceptedCall) -> list[OutboxRow]:
        """Say which notes made room for an accepted one, with a button to restore each."""
        person, key = call.person, name_freeing(_name_call(call))
        moved = ledger.find_call(connection, person_id=person.id, call_key=key)
        chat = find_direct_chat(connection, person, self.dispatcher.adapters)
        if not moved or chat is None:
            return []
        with speak_to(connection, person.id):
            outgoing = NewOutboxMessage(
                chat=chat,
                body=notices.describe_moved([row.change.before or "" for row in moved]),
                person_id=person.id,
                is_silent=True,
                buttons=make_restore_buttons(moved),
            )
        return [outbox.enqueue(connection, outgoing, now=self.now())]

    def _report_change(
        self, connection: Connection, question: Question, made: _Accepted | None
    ) -> list[OutboxRow]:
        is_seen = outbox.find_of_question(connection, question_id=question.id) is not None
        if (made and not made.shown) or (is_seen and (made is None or _is_card(question, made))):
            return []  # the message of the question says it
        if made and not is_seen:
            return []  # it was asked on a page, which shows the change
        chat: Chat | None = question.chat
        if made and made.call.conversation.is_private and not is_direct_chat(question.chat.address):
            chat = find_direct_chat(connection, made.call.person, self.dispatcher.adapters)
        if chat is None:
            return []
        with speak_to(connection, question.person_id):
            shown = made.shown if made else json.loads(question.payload).get("shown", "")
            outgoing = NewOutboxMessage(
                chat=chat,
                body=approvals.describe_done(shown) if made else approvals.describe_outdated(shown),
                person_id=question.person_id,
                is_silent=made is not None,
                buttons=self._offer_undo(connection, made) if made else (),
            )
        return [outbox.enqueue(connection, outgoing, now=self.now())]

    def _offer_undo(self, connection: Connection, made: _Accepted) -> tuple[Choice, ...]:
        """Make a button that undoes a change, wherever it was made."""
        call = made.call.call
        given = json.loads(call.arguments)
        target = str(given.get("target", "")).strip().casefold()
        if call.name == "skill_manage":
            return offer_command(f"undo skill {given.get('name', '')}", UNDO())
        if target == "team" or target.startswith("block:"):
            return offer_command(f"block undo {target.removeprefix('block:')}", UNDO())
        owner_id = self.calls.find_owner(made.call)
        if owner_id is None:
            return ()
        found = make_undo_buttons_of_call(
            connection, owner_id, turn_id=made.call.turn.id, call_id=call.call_id
        )
        undo = next((one.undo for one in made.receipts if one.undo), "")
        return found or (offer_command(undo, UNDO()) if undo else ())

    def _load(self, connection: Connection, question_id: QuestionId) -> _Accepted | None:
        """Load an accepted call; None if it or its turn was deleted."""
        question = questions.find(connection, question_id=question_id)
        if question is None or question.turn_id is None or not question.payload:
            return None
        assert question.call_id is not None  # noqa: S101 - a proposal is one of a call
        turn = turns.find(connection, turn_id=question.turn_id)
        person = people.find(connection, person_id=turn.person_id) if turn else None
        if turn is None or person is None:
            return None
        conversation = sessions.get_conversation(
            connection, conversation_id=turn.conversation_id, person_id=person.id
        )
        room_id = conversation.room_id
        asked = json.loads(question.payload)
        call = AcceptedCall(
            call=ToolCallPart(
                call_id=question.call_id, name=asked["tool"], arguments=asked["arguments"]
            ),
            turn=turn,
            conversation=conversation,
            person=person,
            room=None if room_id is None else rooms.find_by_id(connection, room_id=room_id),
            job_turn=find_job_turn(connection, turn.id, self.now()),
            evidence=asked.get("evidence")
            or messages.request_of_turn(
                connection, turn_id=turn.id, person_id=conversation.person_id
            ),
            sources=tuple(asked["sources"]),
        )
        return _Accepted(call=call, shown=asked.get("shown", ""))
