"""Run background reviews while their person's conversation is idle, and report what they kept."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial

from agent_core.agent.review.feed import list_learned, list_records
from agent_core.agent.review.record import ReviewRecord, dump_record
from agent_core.agent.review.replacing import find_replaced
from agent_core.agent.review.reviewer import Reviewer
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
from gateway.turns.proposals import MOST_ASKED, ask_about_claim, make_learned_buttons

SUMMARY_TASK = "learning_summary"
"""The kind of the tasks that report what was learned in a day or a week."""
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
            asked = record.held[:MOST_ASKED] if chat and person.learning == "ask" else ()
            is_reported = not (person.learning_summary and (record.kept or record.held))
            left = replace(record, held=record.held[len(asked) :], is_reported=is_reported)
            tasks.save(connection, task_id=task.id, payload=dump_record(left))
            if not is_reported:
                self._plan_summary(connection, person)
            if chat is None:
                return []
            with speak_to(connection, person.id):
                rows = self._report(connection, person, [left], chat) if is_reported else []
                for held in asked:
                    claim, whom = held.claim, (person.id, chat)
                    replaced = find_replaced(connection, person_id=person.id, claim=claim)
                    question = ask_about_claim(task.id, held, replaced, whom, self.now())
                    rows += self.questions.pose(connection, question, self.now())
            return rows

        self.dispatcher.enqueue(await self.database.write("reviews.end", work))

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
        shown = list_learned(connection, person_id=person.id, row_ids=row_ids)
        held = sum(len(record.held) for record in records)
        if not shown and not held:
            return []
        buttons = make_learned_buttons(shown)
        if held:
            buttons += (stand_for("learned review", notices.DECIDE()),)
        message = NewOutboxMessage(
            chat=chat,
            body=notices.describe_learned(
                [entry.text for entry in shown],
                held,
                has_draft=any(entry.is_skill for entry in shown),
            ),
            person_id=person.id,
            is_silent=person.learning == "quiet",
            buttons=buttons,
        )
        return [outbox.enqueue(connection, message, now=self.now())]
