"""What nobody asked for just now: where it goes, and whether it waits for a quiet time's end."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from adapters.abilities import CanSendFiles
from adapters.contract import ChatAdapter
from agent_core.ids import RunId, TurnId
from agent_core.state import held, homes, outbox, people, retired, rooms
from agent_core.state.database import Connection
from agent_core.state.held import Held, NewHeld
from agent_core.state.jobs import Target
from agent_core.state.outbox import Debt, OutboxRow
from agent_core.state.people import Person
from gateway import hours, translate, wording, wording_jobs

Spot = tuple[str, str]
"""A platform, and a chat on it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parcel:
    """What is to be delivered: words below a title, and files as (key, name)."""

    person: Person
    title: str
    body: str
    files: tuple[tuple[str, str], ...] = ()
    is_urgent: bool = False
    run_id: RunId | None = None
    turn_id: TurnId | None = None


class Proactive:
    """Owes what comes by itself, at once or when its person may be disturbed again."""

    def __init__(
        self, adapters: Mapping[str, ChatAdapter], *, zone_of: Callable[[Person], str]
    ) -> None:
        self._adapters = adapters
        self._zone_of = zone_of

    def deliver(
        self, connection: Connection, parcel: Parcel, targets: Sequence[Target], now: int
    ) -> list[OutboxRow]:
        """Owe or hold a parcel for each of its places, within the caller's transaction."""
        person = parcel.person
        until = self._quiet_until(connection, person, now)
        rows: list[OutboxRow] = []
        for spot in self.find_spots(connection, person, targets):
            if until is None or parcel.is_urgent:
                rows += self._owe(connection, spot, parcel, now)
            else:
                _hold(connection, spot, parcel, until, now)
        return rows

    def release(self, connection: Connection, now: int) -> list[OutboxRow]:
        """Owe what was held until now: what goes to the same place in one message."""
        due = held.list_due(connection, now=now)
        rows: list[OutboxRow] = []
        for key, group in groupby(sorted(due, key=_key_of), key=_key_of):
            together = list(group)
            person = people.find(connection, person_id=together[0].person_id)
            if person is None:
                continue
            until = self._quiet_until(connection, person, now)
            if until is not None:  # their quiet time has become longer meanwhile
                held.hold_on(connection, ids=[one.id for one in together], at=until)
                continue
            held.drop(connection, ids=[one.id for one in together])
            words = [one for one in together if one.file is None]
            parcel = Parcel(
                person=person,
                title=words[0].title if len(words) == 1 else "",
                body=wording_jobs.join_held([(one.title, one.body) for one in words]),
                files=tuple(one.file for one in together if one.file),
                run_id=together[0].run_id,
                turn_id=together[0].turn_id if len(words) == 1 else None,
            )
            there = Target(kind="place", platform=key[1], chat=key[2])
            for spot in self.find_spots(connection, person, [there]):
                rows += self._owe(connection, spot, parcel, now)
        return rows

    def _quiet_until(self, connection: Connection, person: Person, now: int) -> int | None:
        days_off = homes.find(connection, person_id=person.id).days_off
        return hours.quiet_until(person, days_off, self._zone_of(person), now)

    def find_open(
        self, connection: Connection, person: Person, targets: Sequence[Target]
    ) -> list[Spot]:
        """Those of the places where something can be sent now."""
        spots = self.find_spots(connection, person, targets)
        gone = retired.list_all(connection)
        return [spot for spot in spots if self._is_open(connection, spot, gone)]

    def reroute(self, connection: Connection, row: OutboxRow, now: int) -> OutboxRow | None:
        """Owe what came by itself, and whose chat turned out to be gone, where its person was
        seen last. An answer belongs where it was asked for, and nowhere else.
        """
        person = people.find(connection, person_id=row.person_id) if row.person_id else None
        if person is None or row.answers is not None or row.question_id is not None:
            return None
        target = Target(kind="place", platform=row.platform, chat=row.chat)
        for platform, chat in self.find_spots(connection, person, (target,)):
            if (platform, chat) == (row.platform, row.chat):
                return None
            file = (row.file_key, row.file_name or "") if row.file_key else None
            debt = Debt(
                platform=platform,
                chat=chat,
                body=row.body,
                person_id=row.person_id,
                turn_id=row.turn_id,
                part=row.part,
                is_silent=row.is_silent,
                file=file,
            )
            return outbox.owe(connection, debt, now=now)
        return None

    def find_spots(
        self, connection: Connection, person: Person, targets: Sequence[Target]
    ) -> list[Spot]:
        """The places that targets come to now, each once.

        Where one can't be reached, it is where the person was seen last in a direct talk.
        """
        gone = retired.list_all(connection)
        seen = [
            spot
            for spot in homes.list_seen(connection, person_id=person.id)
            if translate.read_chat(spot[1]).is_direct and self._is_open(connection, spot, gone)
        ]
        home = homes.find(connection, person_id=person.id).place
        found: list[Spot] = []
        for target in targets:
            wished = _wish_of(target, home, seen)
            is_open = wished is not None and self._is_open(connection, wished, gone)
            is_last = wished is not None and not _is_off(connection, wished)
            spot = wished if is_open else next(iter(seen), wished if is_last else None)
            if spot and spot not in found:
                found.append(spot)
        return found

    def _is_open(self, connection: Connection, spot: Spot, gone: Mapping[Spot, str]) -> bool:
        """True where something can be sent unasked; a ticket is good for minutes only."""
        is_there = spot[0] in self._adapters and spot not in gone
        has_ticket = translate.read_chat(spot[1]).ticket is not None
        return is_there and not has_ticket and not _is_off(connection, spot)

    def _owe(self, connection: Connection, spot: Spot, parcel: Parcel, now: int) -> list[OutboxRow]:
        platform, chat = spot
        adapter = self._adapters.get(platform)
        files = parcel.files
        body = parcel.body
        if files and not isinstance(adapter, CanSendFiles):
            names = wording.describe_unsent_files([name for _, name in files])
            body, files = f"{body}\n\n{names}", ()
        debts = [(part, None) for part in (adapter.split(body) if adapter else (body,)) if part]
        rows = []
        for number, (part, file) in enumerate([*debts, *(("", file) for file in files)]):
            debt = Debt(
                platform=platform,
                chat=chat,
                body=part,
                person_id=parcel.person.id,
                turn_id=parcel.turn_id,
                part=number,
                is_silent=number > 0,
                file=file,
            )
            rows.append(outbox.owe(connection, debt, now=now))
        return rows


def _is_off(connection: Connection, spot: Spot) -> bool:
    """True in a room where nothing is to be said."""
    address = translate.read_chat(spot[1])
    if address.is_direct:
        return False
    room = rooms.find(connection, platform=spot[0], chat_id=address.chat_id)
    return room is not None and room.mode == "off"


def _wish_of(target: Target, home: Spot | None, seen: Iterable[Spot]) -> Spot | None:
    if target.kind == "place":
        return target.platform, target.chat
    if target.kind == "home":
        return home or next(iter(seen), None)
    return next((spot for spot in seen if spot[0] == target.platform), None)


def _hold(connection: Connection, spot: Spot, parcel: Parcel, until: int, now: int) -> None:
    for body, file in [(parcel.body, None), *(("", file) for file in parcel.files)]:
        if not body and file is None:
            continue
        kept = NewHeld(
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
        held.hold(connection, kept, now=now)


def _key_of(one: Held) -> tuple[int, str, str]:
    return one.person_id, one.platform, one.chat
