"""The chats that a person can have messages sent to, by name."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from adapters.abilities import CanSendFiles
from agent_core.chats import Chat
from agent_core.ids import PersonId
from agent_core.state.engine.database import Connection
from agent_core.state.jobs.jobs import Target
from agent_core.state.people import delivery_targets, rooms
from agent_core.state.people.delivery_targets import Home
from agent_core.state.people.people import Person
from agent_core.state.queues import outbox
from agent_core.state.queues.outbox import NewOutboxMessage, OutboxRow
from agent_core.tools.chat.send_message import HOME, ROOM_SIGN, Destination
from agent_core.transcript import flatten
from gateway.chats import is_chat, is_direct_chat, make_chat, read_chat
from gateway.jobs.recipients import Recipients, add_chat_app, list_direct_chats
from gateway.outbound.command_buttons import caption_of
from gateway.outbound.dispatcher import OutboxDispatcher
from gateway.texts import jobs as job_texts
from gateway.texts.general import describe_unsent_files
from gateway.texts.states import name_platform

NOWHERE = Target(kind="place")
"""The chat that shows a page: different from all chats that a job can send to."""
_ME = "me"
_LONGEST_TITLE = 60


class ChatMessenger:
    """Sends messages to the direct chats of a person, and to the rooms where they wrote lately."""

    def __init__(self, dispatcher: OutboxDispatcher, zone_of: Callable[[Person], str]) -> None:
        self._dispatcher = dispatcher
        self._zone_of = zone_of

    def list_destinations(
        self, connection: Connection, *, person_id: PersonId, now: int
    ) -> Sequence[Destination]:
        """List the chats that can be sent to now; see `Messenger`."""
        known = Recipients(connection, now, zone_of=self._zone_of)
        person = known.find_person(person_id)
        if person is None:
            return ()
        found: list[Destination] = []
        direct = [chat for chat in known.list_seen(person) if self._is_open(known, chat)]
        home = known.find_home(person).chat
        if home and self._is_open(known, home):
            if is_direct_chat(home.address):
                direct.insert(0, home)
            else:
                found.append(Destination(name=HOME, chat=home))
        own = [Destination(name=_ME, chat=one) for one in direct[:1]]
        newest = {one.platform: one for one in reversed(direct)}
        own += [Destination(name=platform, chat=newest[platform]) for platform in sorted(newest)]
        return (*own, *found, *self._list_rooms(known, person))

    def _list_rooms(self, known: Recipients, person: Person) -> list[Destination]:
        """List the rooms where a person wrote lately, but none whose name another one has, too.

        A room without a name of our own goes by its title, which only the person may say.
        """
        seen = delivery_targets.list_seen(known.connection, person_id=person.id)
        found: dict[Chat, tuple[str, bool]] = {}
        for chat in seen:
            if not is_chat(chat.address) or is_direct_chat(chat.address):
                continue
            address = read_chat(chat.address)
            room = rooms.find(known.connection, platform=chat.platform, chat_id=address.chat_id)
            top = make_chat(chat.platform, replace(address, thread_id=None, ticket=None))
            called = (room.name or room.platform_title) if room else ""
            name = flatten(called, _LONGEST_TITLE).strip().removeprefix(ROOM_SIGN)
            if room and name and self._is_open(known, top):
                found[top] = name, not room.name
        names = [name.casefold() for name, _ in found.values()]
        return [
            Destination(name=f"{ROOM_SIGN}{name}", chat=chat, is_foreign=is_foreign)
            for chat, (name, is_foreign) in found.items()
            if names.count(name.casefold()) == 1  # nobody could tell which of them is meant
        ]

    def enqueue(
        self,
        connection: Connection,
        destination: Destination,
        text: str,
        *,
        person_id: PersonId,
        now: int,
        file: tuple[str, str] | None = None,
    ) -> Sequence[OutboxRow]:
        """Put a message into the outbox, in as many parts as it needs; see `Messenger`."""
        adapter = self._dispatcher.adapters[destination.chat.platform]
        bodies: list[tuple[str, tuple[str, str] | None]]
        bodies = [(part, None) for part in adapter.split(text)]
        if file:
            can_send = isinstance(adapter, CanSendFiles)
            body = caption_of(file[1]) if can_send else describe_unsent_files([file[1]])
            bodies.append((body, file if can_send else None))
        rows = []
        for number, (body, carried) in enumerate(bodies):
            # No turn id here: these messages are not parts of the turn's answer.
            outgoing = NewOutboxMessage(
                chat=destination.chat,
                body=body,
                person_id=person_id,
                part=number,
                is_silent=number > 0,
                file=carried,
            )
            rows.append(outbox.enqueue(connection, outgoing, now=now))
        return rows

    def deliver(self, rows: Sequence[OutboxRow]) -> None:
        """Deliver messages whose transaction is on disk."""
        self._dispatcher.enqueue(rows)

    def _is_open(self, known: Recipients, chat: Chat) -> bool:
        """Return whether a chat accepts messages that nobody there asked for."""
        if chat.platform not in self._dispatcher.adapters or known.is_gone(chat):
            return False
        return read_chat(chat.address).ticket is None and not known.is_off(chat)


class PlaceNames:
    """Names the chats where jobs' results come, in one read; each person's chats are read once."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._known: dict[PersonId, tuple[Home, Sequence[Chat]]] = {}

    def list_names(
        self, person_id: PersonId, targets: Sequence[Target], here: Target | None
    ) -> list[str]:
        """Return the names of one job's chats; `here` is the chat that shows them.

        Without `here`, the reader is not the job's person. The home chat is named once, even if it
        is another of the targets, too.
        """
        if person_id not in self._known:
            home = delivery_targets.find(self._connection, person_id=person_id)
            self._known[person_id] = home, list_direct_chats(self._connection, person_id)
        home, seen = self._known[person_id]
        meant = home.chat or next(iter(seen), None)
        if meant and Target.of(meant) not in targets:
            targets = add_chat_app(targets)
        return [_name(self._connection, target, home, seen, here) for target in targets]


def name_places(
    connection: Connection, person_id: PersonId, targets: Sequence[Target], here: Target | None
) -> list[str]:
    """Return the names of the chats of a single job; see `PlaceNames`."""
    return PlaceNames(connection).list_names(person_id, targets, here)


def _name(
    connection: Connection, target: Target, home: Home, seen: Sequence[Chat], here: Target | None
) -> str:
    is_own = here is not None
    if target == here:
        return job_texts.HERE()
    match target.kind:
        case "place":
            return _name_chat(connection, target.place)
        case "home" if home.chat:
            return job_texts.name_home(_name_chat(connection, home.chat), is_own=is_own)
        case "home":
            return job_texts.name_latest(seen[0].platform if seen else "", is_own=is_own)
        case "account" if any(chat.platform == target.platform for chat in seen):
            return name_platform(target.platform)
        case "account":
            latest = job_texts.name_latest(seen[0].platform if seen else "", is_own=is_own)
            return job_texts.name_new_account(target.platform, latest, is_own=is_own)


def _name_chat(connection: Connection, chat: Chat) -> str:
    address = read_chat(chat.address)
    if address.is_direct:
        return name_platform(chat.platform)
    room = rooms.find(connection, platform=chat.platform, chat_id=address.chat_id)
    name = room.shown_name if room else ""
    return job_texts.name_group(name, chat.platform, is_thread=bool(address.thread_id))
