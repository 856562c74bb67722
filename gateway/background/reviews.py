"""Run background reviews while their person's conversation is idle, and report what they kept."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial

from agent_core.agent.review.feed import list_learned, list_records
from agent_core.agent.review.merging import list_left_out
from agent_core.agent.review.record import ReviewRecord, dump_record
from agent_core.agent.review.reviewer import Reviewer
from agent_core.agent.review.room import list_moved, list_rows
from agent_core.chats import Chat
from agent_core.ids import ConversationId
from agent_core.memory.archive.conclusions import LocalUserModel
from agent_core.state.conversations import sessions
from agent_core.state.engine.database import Connection, Database
from agent_core.state.people import people
from agent_core.state.people.people import Person, Summary
from agent_core.state.queues import outbox, tasks
from agent_core.state.queues.outbox import NewOutboxMessage, OutboxRow
from agent_core.state.queues.tasks import Task
from agent_core.tools.clock import local_time
from gateway.background.model_trust import ModelTrust
from gateway.outbound.command_buttons import stand_for
from gateway.outbound.dispatcher import OutboxDispatcher
from gateway.outbound.questions import Questions
from gateway.people.owner_notices import find_direct_chat
from gateway.texts import learning as notices
from gateway.texts.reader_language import speak_to
from gateway.turns import open_notes
from gateway.turns.proposals import list_held, make_learned_buttons, make_restore_buttons

SUMMARY_TASK = "learning_summary"
"""The kind of the tasks that report what was learned in a day or a week."""
NOTES_TASK = "open_notes"
"""The kind of the tasks that ask about the notes that wait."""
_HOUR = 9
"""The local hour of summaries."""


class PersonBusy(Exception):
    """The person's conversation has a turn under way; the review waits for its end."""


def find_idle(
    connection: Connection, *, task: Task, is_running: Callable[[ConversationId], bool]
) -> Person | None:
    """Find the person of a task. Raises `PersonBusy` while their conversation has a turn."""
    key = sessions.name_direct(task.person_id)
    found = sessions.find_conversation(connection, key=key, person_id=task.person_id)
    if found and is_running(found.id):
        raise PersonBusy
    return people.find(connection, person_id=task.person_id)


def find_summary(now: datetime, summary: Summary) -> datetime:
    """Return the next local moment of a summary: 9:00, weekly on Mondays."""
    moment = now.replace(hour=_HOUR, minute=0, second=0, microsecond=0)
    while moment <= now or (summary == "weekly" and moment.weekday()):
        moment += timedelta(days=1)
    return moment


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviews:
    """Runs the tasks of the kind `review`.

    `is_running` tells whether a conversation has a turn under way. With a `user_model`, reviews
    draw conclusions.
    """

    database: Database
    dispatcher: OutboxDispatcher
    questions: Questions
    reviewer: Reviewer
    is_running: Callable[[ConversationId], bool]
    now: Callable[[], int]
    zone_of: Callable[[Person], str]
    """Returns the IANA time zone of a person."""
    trust: ModelTrust
    user_model: LocalUserModel | None = None

    async def apply(self, task: Task) -> None:
        """Run one review; a repeated task skips the parts that are done.

        Raises `PersonBusy`, `ModelError`, `StoreError`, and `OSError` for an unreadable file.
        """
        person = await self.database.read(partial(find_idle, task=task, is_running=self.is_running))
        if person is None or person.learning == "off" or not self.trust.may("reviews"):
            return
        found = await self.reviewer.review(
            task, asks_first=person.learning == "ask", user_model=self.user_model
        )
        if found is None:
            return
        record = found[1]

        def work(connection: Connection) -> list[OutboxRow]:
            chat = find_direct_chat(connection, person, self.dispatcher.adapters)
            is_reported = not (person.learning_summary and _has_news(record))
            left = replace(record, is_reported=is_reported)
            tasks.save(connection, task_id=task.id, payload=dump_record(left))
            if record.held and not person.learning_summary:
                self._plan_question(connection, person)
            if not is_reported:
                self._plan_summary(connection, person)
            if chat is None:
                return []
            if not is_reported:
                return []
            with speak_to(connection, person.id):
                return self._report(connection, person, [replace(left, held=())], chat)

        self.dispatcher.enqueue(await self.database.write("reviews.end", work))

    async def ask_open(self, task: Task) -> None:
        """Ask about the notes that wait, in one message. Raises `StoreError` and `PersonBusy`."""
        person = await self.database.read(partial(find_idle, task=task, is_running=self.is_running))
        if person is None or person.learning == "off":
            return

        def work(connection: Connection) -> list[OutboxRow]:
            chat = find_direct_chat(connection, person, self.dispatcher.adapters)
            if chat is None or not list_held(connection, person.id):
                return []
            if self._find_due(connection, person) > self.now():
                self._plan_question(connection, person)
                return []
            with speak_to(connection, person.id):
                return open_notes.ask(connection, self.questions, person.id, chat, self.now())

        self.dispatcher.enqueue(await self.database.write("reviews.ask", work))

    def _find_due(self, connection: Connection, person: Person) -> int:
        """Return when to ask: at once if the person wants to decide about each note."""
        return 0 if person.learning == "ask" else open_notes.find_due(connection, person.id)

    def _plan_question(self, connection: Connection, person: Person) -> None:
        """Queue the next question about the notes that wait, once for a moment."""
        due = max(self.now(), self._find_due(connection, person))
        tasks.enqueue(
            connection,
            kind=NOTES_TASK,
            key=f"{person.id}:{due}",
            person_id=person.id,
            payload="{}",
            now=due,
        )

    async def summarize(self, task: Task) -> None:
        """Report all reviews that no message has reported yet. Raises `StoreError`."""

        def work(connection: Connection) -> list[OutboxRow]:
            person = people.find(connection, person_id=task.person_id)
            if person is None:
                return []
            chat = find_direct_chat(connection, person, self.dispatcher.adapters)
            if chat is None:
                return []
            listed = list_records(connection, person_id=person.id)
            new = [(task_id, record) for task_id, record in listed if not record.is_reported]
            for task_id, record in new:
                told = replace(record, is_reported=True)
                tasks.save(connection, task_id=task_id, payload=dump_record(told))
            with speak_to(connection, person.id):
                records = [record for _, record in reversed(new)]
                return self._report(connection, person, records, chat)

        self.dispatcher.enqueue(await self.database.write("reviews.summary", work))

    def _plan_summary(self, connection: Connection, person: Person) -> None:
        """Queue the next summary, once."""
        now = local_time(self.now(), self.zone_of(person))
        moment = find_summary(now, person.learning_summary)
        tasks.enqueue(
            connection,
            kind=SUMMARY_TASK,
            key=f"{person.id}:{moment.date()}",
            person_id=person.id,
            payload="{}",
            now=round(moment.timestamp() * 1000),  # due then
        )

    def _report(
        self,
        connection: Connection,
        person: Person,
        records: Sequence[ReviewRecord],
        chat: Chat,
    ) -> list[OutboxRow]:
        """Enqueue the notice about new entries, with a button to undo each."""
        row_ids = [row_id for record in records for row_id in record.kept]
        merged_ids = [row_id for record in records for row_id in record.merged]
        shown = list_learned(connection, person_id=person.id, row_ids=row_ids)
        merged = list_learned(connection, person_id=person.id, row_ids=merged_ids)
        held = sum(len(record.held) for record in records)
        ended = list_rows(connection, row_ids=[one for each in records for one in each.ended])
        if not (shown or held or merged or ended):
            return []
        moved = list_moved(connection, person_id=person.id, row_ids=row_ids)
        buttons = make_learned_buttons((*shown, *merged)) + make_restore_buttons((*ended, *moved))
        if held:
            buttons += (stand_for("learned review", notices.DECIDE()),)
        message = NewOutboxMessage(
            chat=chat,
            body=notices.describe_learned(
                [(entry.text, entry.was) for entry in shown],
                held,
                merged=[(one.text, one.was, list_left_out(one.was, one.text)) for one in merged],
                ended=[row.change.before or "" for row in ended],
                moved=[row.change.before or "" for row in moved],
                has_draft=any(entry.is_skill for entry in shown),
            ),
            person_id=person.id,
            is_silent=person.learning == "quiet",
            buttons=buttons,
        )
        return [outbox.enqueue(connection, message, now=self.now())]


def _has_news(record: ReviewRecord) -> bool:
    return bool(record.kept or record.held or record.merged or record.ended)
