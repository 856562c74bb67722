"""Identification of people by their platform accounts, and the answers to strangers."""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from adapters.abilities import SpellsCommands
from adapters.contract import ChatAdapter
from adapters.messages import InboundMessage, Sender
from agent_core.chats import Chat
from agent_core.ids import InboxId, PersonId
from agent_core.state.engine.database import Connection, Database
from agent_core.state.people import account_links, codes, people
from agent_core.state.people.codes import Code
from agent_core.state.people.people import Account, Admission, Person
from agent_core.state.queues import inbox, outbox
from agent_core.state.queues.outbox import NewOutboxMessage, OutboxRow
from gateway.chats import name_chat
from gateway.people.admission import (
    LOCAL_PLATFORM,
    AccountRef,
    claim,
    enter,
    is_silenced,
    join,
    make_asker,
    spoil,
)
from gateway.people.onboarding import Access, Greeting, hash_code, make_code
from gateway.texts import general

_PAIRING_LASTS = 86_400_000
"""Milliseconds; owners get a message with it, and may not look at their chats every hour."""
_STRANGER_PAUSE = 3_600_000
_MOST_CACHED = 4096


@dataclass(slots=True)
class Identity:
    """Finds people by their accounts, and lets new ones in."""

    database: Database
    access: Access
    now: Callable[[], int]
    zone: str = "UTC"
    """The deployment's IANA zone, which newcomers are offered first."""
    owner_zone: str = ""
    """The IANA zone that the owner set up, or "". With it, a new owner is not asked again."""
    adapters: Mapping[str, ChatAdapter] = field(default_factory=dict)
    tell_owners: Callable[[Connection, AccountRef, str, int], list[OutboxRow]] = (
        lambda connection, asker, code, now: []
    )
    """Tells owners, in the same transaction, who waits with a new code; the last is the time."""
    most_known: int = _MOST_CACHED
    _known: OrderedDict[tuple[str, str], Person] = field(default_factory=OrderedDict, init=False)
    _forgotten: int = field(default=0, init=False)

    async def identify(
        self, platform: str, sender: Sender, *, may_enter: bool = True
    ) -> Person | None:
        """Return the person of an account, or None for a stranger.

        An account on the allowlist becomes a new person at its first message, unless it may not
        enter; the local console belongs to the owner. Raises `StoreError`.
        """
        key = (platform, sender.user_id)
        known = self._known.get(key)
        if known is not None:
            self._known.move_to_end(key)
            return known
        asker = AccountRef(platform=platform, sender=sender)
        forgotten = self._forgotten
        person = await self.database.read(self._find, asker)
        if person is None and may_enter:
            person = await self._let_in(asker)
        # A person read before the cache was dropped may be out of date.
        if person is not None and forgotten == self._forgotten:
            self._remember(key, person)
        return person

    def _find(self, connection: Connection, asker: AccountRef) -> Person | None:
        """Return the account's person if they may still talk.

        Linked accounts may all talk as long as one of them is admitted.
        """
        if asker.is_person:
            # They may have been merged into somebody since they sent it.
            named = PersonId(int(asker.sender.user_id))
            return self.find_admitted(connection, people.find_kept(connection, person_id=named))
        given = {"platform": asker.platform, "user_id": asker.sender.user_id}
        account = people.find_account(connection, **given)
        if account is None:
            return None
        if not self.is_admitted(account):
            others = people.list_accounts(connection, person_id=account.person_id)
            if not any(self.is_admitted(other) for other in others):
                return None
        return people.find(connection, person_id=account.person_id)

    def find_admitted(self, connection: Connection, person_id: PersonId) -> Person | None:
        """Return a person if one of their accounts may still talk."""
        accounts = people.list_accounts(connection, person_id=person_id)
        if not any(map(self.is_admitted, accounts)):
            return None
        return people.find(connection, person_id=person_id)

    def is_admitted(self, account: Account) -> bool:
        """Return whether an account may talk in its own right, and not only as a linked one."""
        is_listed = account.admitted_by == "list"
        return not is_listed or self.access.allows(account.platform, account.user_id)

    async def _let_in(self, asker: AccountRef) -> Person | None:
        if asker.is_person:
            return None
        admission: Admission = "local" if asker.platform == LOCAL_PLATFORM else "list"
        if admission == "list" and not self.access.allows(asker.platform, asker.sender.user_id):
            return None
        now = self.now()
        return await self.database.write("people.enter", enter, asker, admission, now=now)

    async def handle_stranger(
        self, platform: str, message: InboundMessage, inbox_id: InboxId
    ) -> list[OutboxRow]:
        """Tell a stranger how to get in, at most once an hour. Raises `StoreError`.

        Owners hear of each stranger once, perhaps some hours later. Strangers in rooms get an
        answer only to a slash command, if nobody else sees the answer; then each command is
        answered. The event is finished in the same transaction. Only the account and a count of
        the message are kept.
        """
        sender = message.sender
        reply_chat = name_chat(message.reply_address or message.address)

        def say(connection: Connection, words: str) -> list[OutboxRow]:
            chat = Chat(platform=platform, address=reply_chat)
            outgoing = NewOutboxMessage(chat=chat, body=words)
            return [outbox.enqueue(connection, outgoing, now=now)]

        now = self.now()

        def work(connection: Connection) -> list[OutboxRow]:
            inbox.finish(connection, inbox_id=inbox_id, reason="stranger")
            inbox.drop_payload(connection, inbox_id=inbox_id)
            account_links.count_stranger(
                connection, platform=platform, user_id=sender.user_id, now=now
            )
            latest = codes.find_latest_pairing(
                connection, platform=platform, user_id=sender.user_id
            )
            has_owner = people.find_owner(connection) is not None
            if account_links.is_silenced(
                connection, platform=platform, user_id=sender.user_id, now=now
            ):
                return []
            if not message.address.is_direct and message.reply_address is None:
                return []
            if latest and _is_recent(latest, now, has_owner=has_owner):
                return say(connection, general.STRANGER_AGAIN()) if message.reply_address else []
            code = make_code()
            is_direct = message.address.is_direct
            chat = name_chat(message.address) if is_direct else reply_chat
            codes.insert(
                connection,
                purpose="pairing",
                code_hash=hash_code(code),
                asker=make_asker(platform, sender, chat),
                now=now,
                # A code that is never shown is invalid from the start: only its hour counts.
                expires_at=now + _PAIRING_LASTS if has_owner else now,
            )
            shown = code if has_owner else None
            rows = say(connection, general.describe_stranger(shown, self._list_prefixes()))
            is_told = account_links.is_told(connection, platform=platform, user_id=sender.user_id)
            if has_owner and not is_told:
                asker = AccountRef(platform=platform, sender=sender)
                rows += self.tell_owners(connection, asker, code, now)
            return rows

        return await self.database.write("people.stranger", work)

    def _list_prefixes(self) -> dict[str, str]:
        """Return the text in front of a command, for platforms where it is not a slash."""
        return {
            name: adapter.command_prefix
            for name, adapter in self.adapters.items()
            if isinstance(adapter, SpellsCommands)
        }

    async def redeem(
        self, platform: str, message: InboundMessage, inbox_id: InboxId, command: tuple[str, str]
    ) -> OutboxRow | None:
        """Make an account an owner's (`claim`) or let it in (`join`) if the code is valid.

        Answers, too. An account that guesses codes gets one warning and no further answer. A code
        that others could read becomes invalid. Raises `StoreError`.
        """
        word, code = command
        asker = AccountRef(platform=platform, sender=message.sender)
        now = self.now()
        chat = name_chat(message.reply_address or message.address)

        def work(connection: Connection) -> OutboxRow | None:
            inbox.finish(connection, inbox_id=inbox_id, reason=word)
            inbox.drop_payload(connection, inbox_id=inbox_id)
            if not message.address.is_direct:
                seen = general.CLAIM_IN_GROUP() if word == "claim" else general.INVITE_IN_GROUP()
                words = spoil(connection, asker, code, seen, now)
                reply = Greeting(text=words)
            elif asker.is_person:
                reply = Greeting(text=general.CODE_ON_PAGE())
            elif is_silenced(connection, asker, now):
                return None
            elif word == "join":
                reply = join(connection, asker, code, self.zone, now)
            else:
                reply = claim(connection, asker, code, self.zone, now, owner_zone=self.owner_zone)
            if not reply.text:
                return None
            return outbox.enqueue(
                connection, reply.make_outgoing(Chat(platform=platform, address=chat)), now=now
            )

        row = await self.database.write(f"people.{word}", work)
        self.forget_known()
        return row

    def is_known(self, platform: str, sender: Sender) -> bool:
        """Return whether an account was identified recently."""
        return (platform, sender.user_id) in self._known

    def renew(self, person: Person) -> None:
        """Replace a person in the cache, under each of their cached accounts."""
        for key, known in self._known.items():
            if known.id == person.id:
                self._known[key] = person

    def forget_known(self) -> None:
        """Drop the cache."""
        self._forgotten += 1
        self._known.clear()

    def _remember(self, key: tuple[str, str], person: Person) -> None:
        self._known[key] = person
        if len(self._known) > self.most_known:
            self._known.popitem(last=False)


def _is_recent(latest: Code, now: int, *, has_owner: bool) -> bool:
    """Return whether a stranger was answered within the hour.

    One who came before there was an owner got no code, and gets one now.
    """
    is_shown = not has_owner or latest.expires_at != latest.created_at
    return is_shown and now - latest.created_at < _STRANGER_PAUSE
