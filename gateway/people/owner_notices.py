"""Notices to the owners about changes that nobody asked for in a chat."""

import logging
from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial

from adapters.ids import Address
from agent_core.chats import Chat
from agent_core.ids import PersonId
from agent_core.localization import use_language
from agent_core.memory.store import MemoryStore
from agent_core.memory.sync import find_oversize
from agent_core.state.conversations.questions import Choice
from agent_core.state.engine import meta
from agent_core.state.engine.database import Connection, Database
from agent_core.state.memory import ledger
from agent_core.state.people import account_links, codes, owners, people
from agent_core.state.people.people import Person
from agent_core.state.queues import tasks, unreachable_chats
from agent_core.state.queues.outbox import NewOutboxMessage, OutboxRow, enqueue
from agent_core.state.queues.tasks import Task
from agent_core.state.webhooks.webhooks import Webhook
from gateway.chats import make_chat, read_chat
from gateway.known_platforms import find_title
from gateway.outbound.command_buttons import stand_for
from gateway.outbound.dispatcher import OutboxDispatcher
from gateway.people.admission import API_PLATFORM, LOCAL_PLATFORM, UNATTENDED, AccountRef
from gateway.texts import blocks
from gateway.texts.memory import OVERSIZE, OWN_OVERSIZE
from gateway.texts.people import LET_IN, WAITS, describe_waiting, quote_name
from gateway.texts.webhooks import DEAD_WEBHOOK

_log = logging.getLogger(__name__)

LOCAL_CHAT = make_chat(LOCAL_PLATFORM, Address(chat_id="local", is_direct=True))
"""The console's only chat."""
_LOOK_BACK = 200
"""Number of an owner's latest turns searched for a direct chat."""


def choose_owner(
    connection: Connection, asker: PersonId, here: Chat, platforms: Collection[str]
) -> tuple[PersonId, Chat] | None:
    """Choose the owner to ask, and the chat: the asker if they are one, else the first reachable.

    `here` is the asker's chat; an owner is asked there only if nobody else reads it.
    """
    person = people.find(connection, person_id=asker)
    if person and person.is_owner:
        is_read = here.platform != API_PLATFORM and read_chat(here.address).is_direct
        chat = here if is_read else None
        chat = chat or find_direct_chat(connection, person, platforms)
        return (person.id, chat) if chat else None
    for owner in owners.list_all(connection):
        if chat := find_direct_chat(connection, owner, platforms):
            return owner.id, chat
    return None


def find_direct_chat(
    connection: Connection, person: Person, platforms: Collection[str]
) -> Chat | None:
    """Return a person's latest direct chat on an enabled platform.

    Without a turn in one, the chat of the latest reply to them counts. A terminal comes last,
    because it may not be open.
    """
    gone = unreachable_chats.list_all(connection)
    local: list[Chat] = []
    for list_chats in (owners.list_chats, owners.list_answered_chats):
        for used in list_chats(connection, person_id=person.id, limit=_LOOK_BACK):
            address = read_chat(used.address)
            chat = make_chat(used.platform, replace(address, ticket=None))
            if chat.platform not in platforms or chat.platform == API_PLATFORM:
                continue
            if not address.is_direct or chat in gone:
                continue
            if chat.platform != LOCAL_PLATFORM:
                return chat
            local.append(chat)
    return next(iter(local), None)


def find_place(
    connection: Connection, person_id: PersonId, here: Chat, platforms: Collection[str]
) -> Chat | None:
    """Return where a person is asked: in the chat of their turn, unless a program began it."""
    if here.platform != API_PLATFORM:
        return here
    person = people.find(connection, person_id=person_id)
    return find_direct_chat(connection, person, platforms) if person else None


def is_out_of_reach(connection: Connection, owner: Person, platforms: Collection[str]) -> bool:
    """Return whether an owner could get notices in a chat, but has no direct one."""
    chat = find_direct_chat(connection, owner, platforms)
    has_chats = any(platform not in UNATTENDED for platform in platforms)
    return has_chats and (chat is None or chat.platform == LOCAL_PLATFORM)


_OVERSIZE_TOLD = "oversize_told:"
"""Key prefix in `meta` of the latest edit of each memory that was reported as too large."""
_PERMISSION_TOLD = "permission_told:"
"""Key prefix in `meta` of the time when owners were told of a permission that a platform lacks."""
_DAY = 24 * 3600 * 1000
STRANGERS_TASK = "strangers"
_MOST_STRANGERS = 5
"""Strangers of whom owners hear one by one in 24 hours; further ones share a message."""
_GATHERING = 6 * 3600 * 1000
"""Milliseconds between two such messages; the codes of those who wait are valid for longer."""
_TOLD = "soul_told"
"""Key in `meta` of the latest SOUL.md change that owners were notified of."""


class Notices:
    """Notifies owners in their latest direct chats."""

    def __init__(self, database: Database, dispatcher: OutboxDispatcher) -> None:
        self._database = database
        self.dispatcher = dispatcher

    async def notify_soul_change(self, task: Task, now: int) -> None:
        """Notify owners that SOUL.md was edited by hand; the payload is the ledger row of the
        change.

        A repeated task notifies nobody twice. Raises `StoreError`.
        """

        def work(connection: Connection) -> list[OutboxRow]:
            if meta.get(connection, key=_TOLD) == task.payload:
                return []
            meta.put(connection, key=_TOLD, value=task.payload)
            found = ledger.find_row(connection, entry_id=int(task.payload))
            if found is None:
                return []
            notice = partial(blocks.describe_soul_change, found[1].id, found[1].change)
            return self.enqueue_for_owners(connection, notice, now)

        self.dispatcher.enqueue(await self._database.write("soul.tell", work))

    async def notify_missing_permission(
        self, now: Callable[[], int], platform: str, reason: str
    ) -> None:
        """Tell owners, in the adapter's words, which permission it lacks; at most once a day.

        Raises `StoreError`.
        """
        at, key = now(), f"{_PERMISSION_TOLD}{platform}"

        def work(connection: Connection) -> list[OutboxRow]:
            told = meta.get(connection, key=key)
            if told and at - int(told) < _DAY:
                return []
            meta.put(connection, key=key, value=str(at))
            return self.enqueue_for_owners(connection, lambda: reason, at)

        self.dispatcher.enqueue(await self._database.write("permission.tell", work))

    async def notify_oversize(self, task: Task, memory: MemoryStore, now: int) -> None:
        """Notify owners, and the person whose list it is, of a hand edit over a list's limit.

        A repeated task notifies nobody twice. Raises `StoreError`.
        """

        def work(connection: Connection) -> list[OutboxRow]:
            key = f"{_OVERSIZE_TOLD}{task.person_id}"
            if meta.get(connection, key=key) == task.payload:
                return []
            found = find_oversize(connection, task, memory.limits.of)
            if found is None:
                return []
            meta.put(connection, key=key, value=task.payload)
            owner = found.owner
            path = memory.locate(owner.kind, owner.folder, found.target)
            name = str(path.relative_to(memory.folder.parent))
            notice = partial(OVERSIZE, name=name, size=found.size, limit=found.limit)
            rows = self.enqueue_for_owners(connection, notice, now)
            person = people.find(connection, person_id=owner.person_id)
            if person is None or person.is_owner or owner.kind != "human":
                return rows
            with use_language(person.language):
                words = OWN_OVERSIZE(size=found.size, limit=found.limit)
                return rows + self._enqueue(connection, person, words, now)

        self.dispatcher.enqueue(await self._database.write("memory.tell", work))

    def enqueue_for_owners(
        self,
        connection: Connection,
        notice: Callable[[], str],
        now: int,
        *,
        through: Collection[str] = (),
        buttons: Callable[[], tuple[Choice, ...]] = tuple,
    ) -> list[OutboxRow]:
        """Enqueue a notice to every owner in their language, in the caller's transaction.

        It goes `through` one of those platforms if the owner has a direct chat there. An owner
        without a direct chat gets it in the console. Without a chat for anybody, it is logged, too.
        """
        rows: list[OutboxRow] = []
        for owner in owners.list_all(connection):
            with use_language(owner.language):
                rows += self._enqueue(connection, owner, notice(), now, through, buttons())
        if all(row.chat.platform == LOCAL_PLATFORM for row in rows):
            _log.warning("no owner has a direct chat for this notice: %s", notice())
        return rows

    def tell_of_stranger(
        self, connection: Connection, asker: AccountRef, code: str, now: int
    ) -> list[OutboxRow]:
        """Tell owners who waits with a pairing code, with a button that lets them in.

        A few a day at most: a crowd must not fill the owners' chats, so it shares a later message.
        """
        if account_links.count_told(connection, since=now - _DAY) >= _MOST_STRANGERS:
            self._gather_strangers(connection, now)
            return []
        sender = asker.sender
        account_links.mark_told(
            connection, platform=asker.platform, user_id=sender.user_id, now=now
        )
        name = quote_name(sender.display_name or sender.user_id)
        return self.enqueue_for_owners(
            connection,
            lambda: WAITS(name=name, platform=find_title(asker.platform)),
            now,
            buttons=lambda: (stand_for(f"approve {code.lower()}", LET_IN(), "good"),),
        )

    @staticmethod
    def _gather_strangers(connection: Connection, now: int) -> None:
        """Queue the next message about all who wait, once."""
        due_at = str((now // _GATHERING + 1) * _GATHERING)
        if owner := people.find_owner(connection):
            tasks.enqueue(
                connection,
                kind=STRANGERS_TASK,
                key=due_at,
                person_id=owner.id,
                payload=due_at,
                now=now,
            )

    async def notify_strangers(self, now: int) -> None:
        """Tell owners in one message of all who still wait and were not announced.

        A repeated task names nobody twice. Raises `StoreError`.
        """

        def work(connection: Connection) -> list[OutboxRow]:
            waiting = [
                (one.platform or "", one.user_id or "", one.display_name)
                for one in codes.list_untold(connection, now=now)
            ]
            for platform, user_id, _ in waiting:
                account_links.mark_told(connection, platform=platform, user_id=user_id, now=now)
            named = [(platform, name or user_id) for platform, user_id, name in waiting]
            notice = partial(describe_waiting, named)
            return self.enqueue_for_owners(connection, notice, now) if named else []

        self.dispatcher.enqueue(await self._database.write("strangers.tell", work))

    def enqueue_for_person(
        self, connection: Connection, person_id: PersonId, notice: Callable[[], str], now: int
    ) -> list[OutboxRow]:
        """Enqueue a notice to a person in their language; [] without a direct chat."""
        person = people.find(connection, person_id=person_id)
        if person is None:
            return []
        with use_language(person.language):
            return self._enqueue(connection, person, notice(), now)

    def tell_of_webhook(
        self, connection: Connection, webhook: Webhook, now: int
    ) -> list[OutboxRow]:
        """Tell a person in the caller's transaction why their webhook gets no more events.

        Without a direct chat, it is logged.
        """
        person = people.find(connection, person_id=webhook.person_id)
        if person is None:
            return []
        with use_language(person.language):
            words = DEAD_WEBHOOK(number=webhook.id, name=webhook.name, reason=webhook.reason)
            rows = self._enqueue(connection, person, words, now)
        if not rows:
            _log.warning("webhook %d ended, and its person has no direct chat", webhook.id)
        return rows

    def _enqueue(
        self,
        connection: Connection,
        owner: Person,
        words: str,
        now: int,
        through: Collection[str] = (),
        buttons: tuple[Choice, ...] = (),
    ) -> list[OutboxRow]:
        """Enqueue words to an owner silently, in as many parts as their platform needs.

        The buttons stand below the last part.
        """
        adapters = self.dispatcher.adapters
        preferred = [name for name in through if name in adapters and name not in UNATTENDED]
        chat = find_direct_chat(connection, owner, preferred)
        chat = chat or find_direct_chat(connection, owner, adapters)
        if chat is None and owner.is_owner and LOCAL_PLATFORM in adapters:
            chat = LOCAL_CHAT
        if chat is None:
            return []
        outgoing = NewOutboxMessage(chat=chat, body="", person_id=owner.id, is_silent=True)
        parts = adapters[chat.platform].split(words)
        made = [replace(outgoing, body=part, part=number) for number, part in enumerate(parts)]
        made[-1] = replace(made[-1], buttons=buttons)
        return [enqueue(connection, one, now=now) for one in made]
