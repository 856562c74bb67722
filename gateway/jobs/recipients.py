"""Chats and quiet hours of people, loaded once for all messages of one transaction."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from agent_core.chats import Chat
from agent_core.ids import AccountId, PersonId
from agent_core.schedule.quiet_times import quiet_until
from agent_core.state.engine.database import Connection
from agent_core.state.jobs.jobs import Target
from agent_core.state.people import delivery_targets, owners, people, rooms
from agent_core.state.people.delivery_targets import Home
from agent_core.state.people.people import Person
from agent_core.state.queues import unreachable_chats
from gateway.chats import is_chat, read_chat
from gateway.people.admission import UNATTENDED

_HOME = Target(kind="home")
_LOOK_BACK = 200
"""The newest messages to a person that are searched for a chat app."""


def list_direct_chats(connection: Connection, person_id: PersonId) -> list[Chat]:
    """List a person's direct chats: those in chat apps before screens that nobody may look at.

    In each kind, the chat where they wrote last comes first. A chat app where they never asked
    anything comes last, and only if they got an answer there, as to the code that linked it.
    """
    seen = delivery_targets.list_seen(connection, person_id=person_id)
    direct = [one for one in seen if is_chat(one.address) and read_chat(one.address).is_direct]
    apps = [one for one in direct if one.platform not in UNATTENDED]
    linked = {one.platform for one in people.list_accounts(connection, person_id=person_id)}
    if silent := linked - UNATTENDED - {one.platform for one in apps}:
        told = owners.list_answered_chats(connection, person_id=person_id, limit=_LOOK_BACK)
        apps += [
            one
            for one in dict.fromkeys(told)
            if one.platform in silent and is_chat(one.address) and read_chat(one.address).is_direct
        ]
    return [*apps, *(one for one in direct if one.platform in UNATTENDED)]


def add_chat_app(targets: Sequence[Target]) -> tuple[Target, ...]:
    """Add the home chat to targets on a screen, such as the page: nobody may be looking at it."""
    found: list[Target] = []
    for target in targets:
        if target.kind == "place" and target.place.platform in UNATTENDED:
            found.append(_HOME)
        found.append(target)
    return tuple(dict.fromkeys(found))


class Recipients:
    """The recipients of one transaction; use it for no other."""

    def __init__(
        self, connection: Connection, now: int, *, zone_of: Callable[[Person], str]
    ) -> None:
        """`now` is in milliseconds since the epoch."""
        self.connection = connection
        self.now = now
        self._zone_of = zone_of
        self._people: dict[PersonId, Person | None] = {}
        self._homes: dict[PersonId, Home] = {}
        self._seen: dict[PersonId, list[Chat]] = {}
        self._quiet: dict[PersonId, int | None] = {}
        self._accounts: dict[PersonId, dict[str, AccountId]] = {}
        self._is_off: dict[Chat, bool] = {}
        self._gone: dict[Chat, str] | None = None

    def find_person(self, person_id: PersonId | None) -> Person | None:
        """Return a person; None for no id, or for an unknown one."""
        if person_id is None:
            return None
        if person_id not in self._people:
            self._people[person_id] = people.find(self.connection, person_id=person_id)
        return self._people[person_id]

    def find_home(self, person: Person) -> Home:
        """Return a person's delivery settings."""
        if person.id not in self._homes:
            home = delivery_targets.find(self.connection, person_id=person.id)
            if home.chat and not is_chat(home.chat.address):
                home = replace(home, chat=None)  # damaged on disk
            self._homes[person.id] = home
        return self._homes[person.id]

    def list_seen(self, person: Person) -> list[Chat]:
        """List a person's direct chats, the best for a message first."""
        if person.id not in self._seen:
            self._seen[person.id] = list_direct_chats(self.connection, person.id)
        return self._seen[person.id]

    def find_account(self, person: Person, platform: str) -> AccountId | None:
        """Return a person's first account on a platform."""
        if person.id not in self._accounts:
            mine = people.list_accounts(self.connection, person_id=person.id)
            self._accounts[person.id] = {one.platform: one.id for one in reversed(mine)}
        return self._accounts[person.id].get(platform)

    def quiet_until(self, person: Person) -> int | None:
        """Return when the person's current quiet hours end, in milliseconds; None outside them."""
        if person.id not in self._quiet:
            days_off = self.find_home(person).days_off
            zone = self._zone_of(person)
            self._quiet[person.id] = quiet_until(person, days_off, zone, self.now)
        return self._quiet[person.id]

    def is_gone(self, chat: Chat) -> bool:
        """Return whether a chat is unreachable."""
        if self._gone is None:
            self._gone = unreachable_chats.list_all(self.connection)
        return chat in self._gone

    def is_off(self, chat: Chat) -> bool:
        """Return whether a chat is a room in which the assistant is turned off."""
        if chat not in self._is_off:
            self._is_off[chat] = self._is_room_off(chat)
        return self._is_off[chat]

    def _is_room_off(self, chat: Chat) -> bool:
        address = read_chat(chat.address)
        if address.is_direct:
            return False
        room = rooms.find(self.connection, platform=chat.platform, chat_id=address.chat_id)
        return room is not None and room.mode == "off"
