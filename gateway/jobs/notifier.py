"""Routes unsolicited messages to their chats, and defers them during quiet hours."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Literal

from adapters.abilities import CanSendFiles
from adapters.contract import ChatAdapter
from agent_core.chats import Chat
from agent_core.ids import RunId, TurnId
from agent_core.localization import use_language
from agent_core.schedule.job_editor import AGAIN, ASKED
from agent_core.schedule.reminder_answers import is_reminder
from agent_core.state.conversations.questions import Choice
from agent_core.state.engine.database import Connection
from agent_core.state.jobs import job_runs, jobs
from agent_core.state.jobs.job_runs import Run
from agent_core.state.jobs.jobs import Job, Target
from agent_core.state.people import rooms
from agent_core.state.people.people import Person
from agent_core.state.queues import deferred_messages, outbox
from agent_core.state.queues.deferred_messages import DeferredMessage, NewDeferredMessage
from agent_core.state.queues.outbox import NewOutboxMessage, OutboxRow
from agent_core.tools.clock import ReaderClock
from gateway.chats import is_chat, read_chat
from gateway.jobs.history import JobHistory, Source
from gateway.jobs.job_buttons import (
    make_job_buttons,
    make_open_button,
    make_reminder_buttons,
)
from gateway.jobs.recipients import Recipients
from gateway.outbound.command_buttons import caption_of
from gateway.texts import general, job_results, reminders

_log = logging.getLogger(__name__)

_BUTTONED = 5
"""Jobs with buttons below one message: three each, and no platform shows more than 25."""
_BATCH = 200
"""Deferred messages released in one transaction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notification:
    """An unsolicited message: words below a title, and files as (key, name).

    Words that the agent did not write have a `source`, and are recorded in the job's history.
    """

    person: Person
    title: str
    body: str
    files: tuple[tuple[str, str], ...] = ()
    is_urgent: bool = False
    run_id: RunId | None = None
    turn_id: TurnId | None = None
    source: Source | None = None
    buttons: tuple[Choice, ...] = ()
    """Buttons below the words. A deferred message gets those of a paused job at its release."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Held:
    """A deferred message, with the run that sent it, if one did, and when it was due."""

    message: DeferredMessage
    job: Job | None = None
    run: Run | None = None
    due: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Notifier:
    """Enqueues unsolicited messages, at once or after the person's quiet hours."""

    adapters: Mapping[str, ChatAdapter]
    history: JobHistory
    zone_of: Callable[[Person], str]

    def load_recipients(self, connection: Connection, now: int) -> Recipients:
        """Return the recipients as one transaction sees them."""
        return Recipients(connection, now, zone_of=self.zone_of)

    def deliver(
        self, known: Recipients, notification: Notification, targets: Sequence[Target]
    ) -> list[OutboxRow]:
        """Enqueue or defer a notification for each of its chats, in the caller's transaction."""
        person = notification.person
        chats = self._resolve(known, person, targets)
        if not chats:
            return []
        place = None
        if notification.source:
            place = self.history.note(known, notification.source, person, list(chats))
            files = (*notification.files, *self.history.attach(known, notification.source, place))
            notification = replace(notification, turn_id=place.turn_id, files=files)
        until = None if notification.is_urgent else known.quiet_until(person)
        rows: list[OutboxRow] = []
        for chat, meant in chats.items():
            words = replace(notification, body=_note_place(known, person, meant, notification.body))
            if until is None:
                rows += self._enqueue(known, chat, words)
            else:
                _defer(known, chat, words, until)
        if place and until is None:
            self.history.report(known, place, notification.body)
        return rows

    def release(self, connection: Connection, now: int) -> list[OutboxRow]:
        """Enqueue a batch of due deferred messages, one message for each chat.

        Messages beyond the batch stay due.
        """
        known = self.load_recipients(connection, now)
        due = deferred_messages.list_due(connection, now=now, limit=_BATCH)
        rows: list[OutboxRow] = []
        for _, found in groupby(sorted(due, key=_key_of), key=_key_of):
            group = list(found)
            person = known.find_person(group[0].person_id)
            if person is None:  # damaged on disk: its person is unknown
                deferred_messages.drop(connection, ids=[one.id for one in group])
                continue
            until = known.quiet_until(person)
            if until is not None:  # their quiet hours were extended meanwhile
                deferred_messages.postpone(connection, ids=[one.id for one in group], at=until)
                continue
            deferred_messages.drop(connection, ids=[one.id for one in group])
            with use_language(person.language):
                rows += self._release_chat(known, person, group)
        return rows

    def _release_chat(
        self, known: Recipients, person: Person, group: Sequence[DeferredMessage]
    ) -> list[OutboxRow]:
        """Enqueue the deferred messages of one chat."""
        words = [one for one in group if one.file is None and one.is_whole]
        merged = _merge(known.connection, words)
        reported = [(one.message.title, self._add_due(known, person, one)) for one in merged]
        lost = sum(not one.is_whole for one in group)
        if lost:
            _log.error("%d deferred messages of person %d are damaged", lost, person.id)
            reported.append(job_results.describe_lost(lost))
        notification = Notification(
            person=person,
            title=reported[0][0] if len(reported) == 1 else "",
            body=job_results.join_deferred(reported),
            files=tuple(one.file for one in group if one.file),
            run_id=group[0].run_id,
            turn_id=group[0].turn_id if len(words) == 1 else None,
            buttons=_list_buttons(merged),
        )
        there = Target.of(group[0].chat)
        if not is_chat(group[0].chat.address):
            there = Target(kind="home")  # damaged on disk
        rows: list[OutboxRow] = []
        for chat in self._resolve(known, person, [there]):
            rows += self._enqueue(known, chat, notification)
        for one in words if rows else ():
            if one.turn_id:
                self.history.record_late(known, one.turn_id, person, one.body)
        return rows

    def _add_due(self, known: Recipients, person: Person, held: _Held) -> str:
        """Return a deferred message with its due times, if it had any."""
        clock = ReaderClock(zone=self.zone_of(person), now=known.now)
        body = held.message.body
        if held.job is None or not held.due:
            return body
        return note_due(held.job, body, held.due, clock, "quiet")

    def find_open(
        self, connection: Connection, person: Person, targets: Sequence[Target], now: int
    ) -> list[Chat]:
        """Return those chats of the targets that can receive a message now."""
        known = self.load_recipients(connection, now)
        chats = self._resolve(known, person, targets)
        return [chat for chat in chats if self._is_open(known, chat)]

    def reroute(self, connection: Connection, row: OutboxRow, now: int) -> OutboxRow | None:
        """Enqueue an unsolicited message for the person's latest chat, if its own chat is
        unreachable.

        An answer is never sent elsewhere.
        """
        known = self.load_recipients(connection, now)
        person = known.find_person(row.person_id)
        if person is None or row.answers is not None or row.question_id is not None:
            return None
        target = Target.of(row.chat)
        for chat, meant in self._resolve(known, person, (target,)).items():
            if meant is None:
                return None
            outgoing = outbox.readdress(row, chat)
            if row.part == 0:
                outgoing = replace(outgoing, body=_note_place(known, person, meant, row.body))
            return outbox.enqueue(connection, outgoing, now=now)
        return None

    def _resolve(
        self, known: Recipients, person: Person, targets: Sequence[Target]
    ) -> dict[Chat, Chat | None]:
        """Return the chats that targets stand for now, each with the chat that it replaces, if any.

        An unreachable chat is replaced with the person's latest direct chat.
        """
        home = known.find_home(person).chat
        found: dict[Chat, Chat | None] = {}
        for target in targets:
            preferred = self._choose_chat(known, person, target, home)
            chat = preferred
            if preferred is None or not self._is_open(known, preferred):
                is_last = preferred is not None and not known.is_off(preferred)
                seen = self._list_seen(known, person)
                chat = next(seen, preferred if is_last else None)
            if chat and chat not in found:
                found[chat] = preferred if preferred != chat else None
        return found

    def _choose_chat(
        self, known: Recipients, person: Person, target: Target, home: Chat | None
    ) -> Chat | None:
        if target.kind == "place":
            return target.place
        seen = self._list_seen(known, person)
        if target.kind == "home":
            return home or next(seen, None)
        return next((chat for chat in seen if chat.platform == target.platform), None)

    def _list_seen(self, known: Recipients, person: Person) -> Iterator[Chat]:
        return (chat for chat in known.list_seen(person) if self._is_open(known, chat))

    def _is_open(self, known: Recipients, chat: Chat) -> bool:
        """Return whether a chat accepts unsolicited messages; a ticket expires after minutes."""
        if chat.platform not in self.adapters or known.is_gone(chat):
            return False
        return read_chat(chat.address).ticket is None and not known.is_off(chat)

    def _enqueue(
        self, known: Recipients, chat: Chat, notification: Notification
    ) -> list[OutboxRow]:
        adapter = self.adapters.get(chat.platform)
        files = notification.files
        body = notification.body
        if files and not isinstance(adapter, CanSendFiles):
            with use_language(notification.person.language):
                names = general.describe_unsent_files([name for _, name in files])
            body, files = f"{body}\n\n{names}", ()
        outgoings = [(part, None) for part in (adapter.split(body) if adapter else (body,)) if part]
        last = len(outgoings) - 1
        rows = []
        for number, (part, file) in enumerate(
            [*outgoings, *((caption_of(file[1]), file) for file in files)]
        ):
            outgoing = NewOutboxMessage(
                chat=chat,
                body=part,
                person_id=notification.person.id,
                turn_id=notification.turn_id,
                part=number,
                is_silent=number > 0,
                buttons=notification.buttons if number == last else (),
                file=file,
            )
            rows.append(outbox.enqueue(known.connection, outgoing, now=known.now))
        return rows


def _note_place(known: Recipients, person: Person, meant: Chat | None, body: str) -> str:
    """Put above a text for which group it was meant, if it goes to a direct chat instead."""
    if meant is None or not body or not is_chat(meant.address):
        return body
    address = read_chat(meant.address)
    if address.is_direct:
        return body
    room = rooms.find(known.connection, platform=meant.platform, chat_id=address.chat_id)
    with use_language(person.language):
        return job_results.note_place(room.shown_name if room else "", body)


def _defer(known: Recipients, chat: Chat, notification: Notification, until: int) -> None:
    for body, file in [(notification.body, None), *(("", file) for file in notification.files)]:
        if not body and file is None:
            continue
        kept = NewDeferredMessage(
            person_id=notification.person.id,
            chat=chat,
            title=notification.title,
            body=body,
            release_at=until,
            run_id=notification.run_id,
            turn_id=notification.turn_id,
            file=file,
        )
        deferred_messages.defer(known.connection, kept, now=known.now)


def _list_buttons(merged: Sequence[_Held]) -> tuple[Choice, ...]:
    """List the buttons of deferred messages: of each reminder, and of each paused job once.

    Of several messages, each reminder has one button with its title.
    """
    known = [(one.job, one.run) for one in merged if one.job and one.run]
    paused = {job.id: job for job, _ in known if job.state == "paused"}
    shown = [*paused.values()][:_BUTTONED]
    about_jobs = [make_open_button(job) for job in shown]
    if len(shown) == 1:
        about_jobs = [*make_job_buttons(shown[0])]
    if len(merged) == 1 and known:
        return (*make_reminder_buttons(*known[0]), *about_jobs)
    several = known[:_BUTTONED]
    done = [one for job, run in several for one in make_reminder_buttons(job, run, job.title)]
    return (*done, *about_jobs)


def show_message(job: Job, words: str) -> str:
    """Show what a job of the kind `message` sends; a reminder gets its sign."""
    return reminders.show_reminder(words) if is_reminder(job) else words


def note_due(
    job: Job,
    words: str,
    due: Sequence[int],
    clock: ReaderClock,
    why: Literal["off", "quiet"],
) -> str:
    """Add to a result when it was due, in milliseconds."""
    if is_reminder(job):
        return reminders.note_missed(words, due, clock, why)
    return words + job_results.note_due(due, clock)


def _merge(connection: Connection, words: Sequence[DeferredMessage]) -> list[_Held]:
    """Merge the repeats of a message job, and equal results of a job; return all due times.

    The newest message stands for its repeats.
    """
    merged: dict[object, _Held] = {}
    for one in words:
        run = job_runs.find(connection, run_id=one.run_id) if one.run_id else None
        job = jobs.find(connection, job_id=run.job_id) if run else None
        if run is None or job is None:
            merged[one.id] = _Held(message=one)
            continue
        meaning = (job.id, one.title if job.kind == "message" else one.body)
        due = [] if is_asked(run) else job_runs.list_due_times(connection, run=run)
        if before := merged.pop(meaning, None):
            due = [*before.due, *due]
        merged[meaning] = _Held(message=one, job=job, run=run, due=tuple(due))
    return list(merged.values())


def is_asked(run: Run) -> bool:
    """Return whether a person asked for this run, outside the job's schedule."""
    return run.slot.startswith(ASKED)


def is_wanted(run: Run | None) -> bool:
    """Return whether a person asked for a run at this moment, so that it comes in quiet hours."""
    return run is not None and run.slot.startswith((ASKED, AGAIN))


def _key_of(one: DeferredMessage) -> tuple[int, str, str]:
    return one.person_id, one.chat.platform, one.chat.address
