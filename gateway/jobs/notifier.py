"""What nobody asked for just now: where it goes, and whether it waits for a quiet time's end."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from adapters.abilities import CanSendFiles
from adapters.contract import ChatAdapter
from agent_core.ids import RunId, TurnId
from agent_core.state.engine.database import Connection
from agent_core.state.jobs.jobs import Target
from agent_core.state.people.people import Person
from agent_core.state.queues import deferred_messages, outbox
from agent_core.state.queues.deferred_messages import Held, NewDeferredMessage
from agent_core.state.queues.outbox import NewOutboxMessage, OutboxRow
from gateway import conversion
from gateway.jobs.conversations import ChatRef
from gateway.jobs.history import JobHistory, Source
from gateway.jobs.recipients import Recipients
from gateway.texts import general
from gateway.texts import job_results

_log = logging.getLogger(__name__)

_BATCH = 200
"""Messages that are let go in one transaction, and those to the same people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notification:
    """What is to be delivered: words below a title, and files as (key, name).

    Words that no turn of the agent made have a `source`, and are kept in its person's history.
    """

    person: Person
    title: str
    body: str
    files: tuple[tuple[str, str], ...] = ()
    is_urgent: bool = False
    run_id: RunId | None = None
    turn_id: TurnId | None = None
    source: Source | None = None


class Notifier:
    """Owes what comes by itself, at once or when its person may be disturbed again."""

    def __init__(
        self,
        adapters: Mapping[str, ChatAdapter],
        history: JobHistory,
        *,
        zone_of: Callable[[Person], str],
    ) -> None:
        self._adapters = adapters
        self._zone_of = zone_of
        self.history = history

    def look(self, connection: Connection, now: int) -> Recipients:
        """What one transaction has to know of people to send them something."""
        return Recipients(connection, now, zone_of=self._zone_of)

    def deliver(
        self, known: Recipients, parcel: Notification, targets: Sequence[Target]
    ) -> list[OutboxRow]:
        """Owe or hold a parcel for each of its places, within the caller's transaction."""
        person = parcel.person
        spots = self._find_spots(known, person, targets)
        if not spots:
            return []
        shelf = None
        if parcel.source:
            shelf = self.history.note(known, parcel.source, person, spots)
            files = (*parcel.files, *self.history.attach(known, parcel.source, shelf))
            parcel = replace(parcel, turn_id=shelf.turn_id, files=files)
        until = None if parcel.is_urgent else known.quiet_until(person)
        rows: list[OutboxRow] = []
        for spot in spots:
            if until is None:
                rows += self._enqueue(known, spot, parcel)
            else:
                _hold(known, spot, parcel, until)
        if shelf and until is None:
            self.history.tell(known, shelf, parcel.body)
        return rows

    def release(self, connection: Connection, now: int) -> list[OutboxRow]:
        """Owe what was held until now: what goes to the same place in one message.

        Of a crowd's it is some of it; the rest is still due then.
        """
        known = self.look(connection, now)
        due = deferred_messages.list_due(connection, now=now, limit=_BATCH)
        rows: list[OutboxRow] = []
        for key, group in groupby(sorted(due, key=_key_of), key=_key_of):
            together = list(group)
            person = known.find_person(together[0].person_id)
            if person is None:  # damaged on disk: it is nobody's
                deferred_messages.drop(connection, ids=[one.id for one in together])
                continue
            until = known.quiet_until(person)
            if until is not None:  # their quiet time has become longer meanwhile
                deferred_messages.hold_on(connection, ids=[one.id for one in together], at=until)
                continue
            deferred_messages.drop(connection, ids=[one.id for one in together])
            rows += self._let_go(known, person, together, (key[1], key[2]))
        return rows

    def _let_go(
        self, known: Recipients, person: Person, together: Sequence[Held], place: ChatRef
    ) -> list[OutboxRow]:
        """Owe what was held for one place."""
        words = [one for one in together if one.file is None and one.is_whole]
        told = [(one.title, one.body) for one in words]
        lost = sum(not one.is_whole for one in together)
        if lost:
            _log.error("%d messages held for person %d are damaged", lost, person.id)
            told.append(job_results.describe_lost(lost))
        parcel = Notification(
            person=person,
            title=told[0][0] if len(told) == 1 else "",
            body=job_results.join_deferred(told),
            files=tuple(one.file for one in together if one.file),
            run_id=together[0].run_id,
            turn_id=together[0].turn_id if len(words) == 1 else None,
        )
        there = Target(kind="place", platform=place[0], chat=place[1])
        if not conversion.is_chat(place[1]):
            there = Target(kind="home")  # damaged on disk
        rows: list[OutboxRow] = []
        for spot in self._find_spots(known, person, [there]):
            rows += self._enqueue(known, spot, parcel)
        for one in words if rows else ():
            if one.turn_id:
                self.history.record_late(known, one.turn_id, person, one.body)
        return rows

    def find_open(
        self, connection: Connection, person: Person, targets: Sequence[Target], now: int
    ) -> list[ChatRef]:
        """Those of the places where something can be sent now."""
        known = self.look(connection, now)
        spots = self._find_spots(known, person, targets)
        return [spot for spot in spots if self._is_open(known, spot)]

    def reroute(self, connection: Connection, row: OutboxRow, now: int) -> OutboxRow | None:
        """Owe what came by itself, and whose chat turned out to be gone, where its person was
        seen last. An answer belongs where it was asked for, and nowhere else.
        """
        known = self.look(connection, now)
        person = known.find_person(row.person_id)
        if person is None or row.answers is not None or row.question_id is not None:
            return None
        target = Target(kind="place", platform=row.platform, chat=row.chat)
        for platform, chat in self._find_spots(known, person, (target,)):
            if (platform, chat) == (row.platform, row.chat):
                return None
            file = (row.file_key, row.file_name or "") if row.file_key else None
            outgoing = NewOutboxMessage(
                platform=platform,
                chat=chat,
                body=row.body,
                person_id=row.person_id,
                turn_id=row.turn_id,
                part=row.part,
                is_silent=row.is_silent,
                file=file,
            )
            return outbox.enqueue(connection, outgoing, now=now)
        return None

    def _find_spots(
        self, known: Recipients, person: Person, targets: Sequence[Target]
    ) -> list[ChatRef]:
        """The places that targets come to now, each once.

        Where one can't be reached, it is where the person was seen last in a direct talk.
        """
        home = known.find_home(person).place
        found: list[ChatRef] = []
        for target in targets:
            wished = self._wish_of(known, person, target, home)
            spot = wished
            if wished is None or not self._is_open(known, wished):
                is_last = wished is not None and not known.is_off(wished)
                seen = self._list_seen(known, person)
                spot = next(seen, wished if is_last else None)
            if spot and spot not in found:
                found.append(spot)
        return found

    def _wish_of(
        self, known: Recipients, person: Person, target: Target, home: ChatRef | None
    ) -> ChatRef | None:
        if target.kind == "place":
            return target.platform, target.chat
        seen = self._list_seen(known, person)
        if target.kind == "home":
            return home or next(seen, None)
        return next((spot for spot in seen if spot[0] == target.platform), None)

    def _list_seen(self, known: Recipients, person: Person) -> Iterator[ChatRef]:
        return (spot for spot in known.list_seen(person) if self._is_open(known, spot))

    def _is_open(self, known: Recipients, spot: ChatRef) -> bool:
        """True where something can be sent unasked; a ticket is good for minutes only."""
        if spot[0] not in self._adapters or known.is_gone(spot):
            return False
        return conversion.read_chat(spot[1]).ticket is None and not known.is_off(spot)

    def _enqueue(self, known: Recipients, spot: ChatRef, parcel: Notification) -> list[OutboxRow]:
        platform, chat = spot
        adapter = self._adapters.get(platform)
        files = parcel.files
        body = parcel.body
        if files and not isinstance(adapter, CanSendFiles):
            names = general.describe_unsent_files([name for _, name in files])
            body, files = f"{body}\n\n{names}", ()
        outgoings = [(part, None) for part in (adapter.split(body) if adapter else (body,)) if part]
        rows = []
        for number, (part, file) in enumerate([*outgoings, *(("", file) for file in files)]):
            outgoing = NewOutboxMessage(
                platform=platform,
                chat=chat,
                body=part,
                person_id=parcel.person.id,
                turn_id=parcel.turn_id,
                part=number,
                is_silent=number > 0,
                file=file,
            )
            rows.append(outbox.enqueue(known.connection, outgoing, now=known.now))
        return rows


def _hold(known: Recipients, spot: ChatRef, parcel: Notification, until: int) -> None:
    for body, file in [(parcel.body, None), *(("", file) for file in parcel.files)]:
        if not body and file is None:
            continue
        kept = NewDeferredMessage(
            person_id=parcel.person.id,
            platform=spot[0],
            chat=spot[1],
            title=parcel.title,
            body=body,
            release_at=until,
            run_id=parcel.run_id,
            turn_id=parcel.turn_id,
            file=file,
        )
        deferred_messages.hold(known.connection, kept, now=known.now)


def _key_of(one: Held) -> tuple[int, str, str]:
    return one.person_id, one.platform, one.chat
