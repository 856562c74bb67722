"""Identification of people by their platform accounts: allowlist, claim codes, pairing codes."""

import re
import unicodedata
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from adapters.ids import PlatformUserId
from adapters.messages import InboundMessage, Sender
from agent_core.ids import InboxId, PersonId
from agent_core.state.engine.database import Connection, Database
from agent_core.state.people import account_links, audit, people
from agent_core.state.people.audit import AuditEntry
from agent_core.state.people.people import Account, Admission, NewAccount, Person, Role
from agent_core.state.queues import inbox, outbox
from agent_core.state.queues.outbox import NewOutboxMessage, OutboxRow
from gateway import conversion
from gateway.people.onboarding import Access, Greeting, greet, hash_code, make_code
from gateway.texts import general

LOCAL_PLATFORM = "console"
"""Its socket in the home directory has mode 0600, so only the home's owner can open it."""

API_PLATFORM = "api"
"""The API; its senders are people by number, because the token has said who asks."""
UNATTENDED = frozenset({LOCAL_PLATFORM, API_PLATFORM})
"""Where nobody is reached who does not ask just now."""

_PAIRING_LASTS = 3_600_000
_CLAIM_LASTS = 24 * 3_600_000
_STRANGER_PAUSE = 3_600_000
_MOST_CACHED = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountRef:
    """An account on a platform."""

    platform: str
    sender: Sender


class Identity:
    """Finds people by their accounts, and lets new ones in."""

    def __init__(
        self,
        database: Database,
        access: Access,
        now: Callable[[], int],
        *,
        zone: str = "UTC",
        most_known: int = _MOST_CACHED,
    ) -> None:
        """`zone` is the deployment's IANA zone, which newcomers are offered first."""
        self._database = database
        self._zone = zone
        self._most_known = most_known
        self._access = access
        self._now = now
        self._known: OrderedDict[tuple[str, str], Person] = OrderedDict()
        self._forgotten = 0

    async def identify(self, platform: str, sender: Sender) -> Person | None:
        """Return the person of an account, or None for a stranger.

        An account on the allowlist becomes a new person at its first message; the local console
        belongs to the owner. Raises `StoreError`.
        """
        key = (platform, sender.user_id)
        known = self._known.get(key)
        if known is not None:
            self._known.move_to_end(key)
            return known
        asker = AccountRef(platform=platform, sender=sender)
        forgotten = self._forgotten
        person = await self._database.read(lambda connection: self._find(connection, asker))
        if person is None:
            person = await self._let_in(asker)
        # A person read before the cache was dropped may be out of date.
        if person is not None and forgotten == self._forgotten:
            self._remember(key, person)
        return person

    def _find(self, connection: Connection, asker: AccountRef) -> Person | None:
        """Return the account's person if they may still talk.

        Linked accounts may all talk as long as one of them is admitted.
        """
        if asker.platform == API_PLATFORM:
            return self.find_admitted(connection, PersonId(int(asker.sender.user_id)))
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
        return not is_listed or self._access.allows(account.platform, account.user_id)

    async def _let_in(self, asker: AccountRef) -> Person | None:
        if asker.platform == API_PLATFORM:
            return None
        admission: Admission = "local" if asker.platform == LOCAL_PLATFORM else "list"
        if admission == "list" and not self._access.allows(asker.platform, asker.sender.user_id):
            return None
        now = self._now()
        return await self._database.write(
            "people.enter", lambda connection: _enter(connection, asker, admission, now=now)
        )

    async def handle_stranger(
        self, platform: str, message: InboundMessage, inbox_id: InboxId
    ) -> OutboxRow | None:
        """Tell a stranger how to get in, at most once an hour. Raises `StoreError`.

        Strangers in rooms get an answer only to a slash command, where nobody else sees it; there
        each command is answered. The event is finished in the same transaction. Of the message,
        only the account and a count stay.
        """
        sender = message.sender
        reply_chat = conversion.name_chat(message.reply_address or message.address)

        def say(connection: Connection, words: str) -> OutboxRow:
            outgoing = NewOutboxMessage(platform=platform, chat=reply_chat, body=words)
            return outbox.enqueue(connection, outgoing, now=now)

        now = self._now()

        def work(connection: Connection) -> OutboxRow | None:
            inbox.finish(connection, inbox_id=inbox_id, reason="stranger")
            inbox.drop_payload(connection, inbox_id=inbox_id)
            account_links.count_stranger(
                connection, platform=platform, user_id=sender.user_id, now=now
            )
            latest = people.find_latest_pairing(
                connection, platform=platform, user_id=sender.user_id
            )
            has_owner = people.find_owner(connection) is not None
            if account_links.is_silenced(
                connection, platform=platform, user_id=sender.user_id, now=now
            ):
                return None
            reported_lately = (
                latest is not None
                and now - latest.created_at < _STRANGER_PAUSE
                # A stranger who came before there was an owner got no code, and gets one now.
                and not (has_owner and latest.expires_at == latest.created_at)
            )
            if not message.address.is_direct and message.reply_address is None:
                return None
            if reported_lately:
                return say(connection, general.STRANGER_AGAIN()) if message.reply_address else None
            code = make_code()
            is_direct = message.address.is_direct
            chat = conversion.name_chat(message.address) if is_direct else reply_chat
            people.insert_code(
                connection,
                purpose="pairing",
                code_hash=hash_code(code),
                asker=_make_asker(platform, sender, chat),
                now=now,
                # A code that is never shown is invalid from the start: only its hour counts.
                expires_at=now + _PAIRING_LASTS if has_owner else now,
            )
            return say(connection, general.describe_stranger(code if has_owner else None))

        return await self._database.write("people.stranger", work)

    async def claim(
        self, platform: str, message: InboundMessage, inbox_id: InboxId, code: str
    ) -> OutboxRow | None:
        """Make an account an owner's if the code is valid, and answer. Raises `StoreError`.

        An account that guesses codes gets one warning and no further answer. A code that
        others could read becomes invalid.
        """
        asker = AccountRef(platform=platform, sender=message.sender)
        now = self._now()
        chat = conversion.name_chat(message.reply_address or message.address)

        def work(connection: Connection) -> OutboxRow | None:
            inbox.finish(connection, inbox_id=inbox_id, reason="claim")
            inbox.drop_payload(connection, inbox_id=inbox_id)
            if not message.address.is_direct:
                words = spoil(connection, asker, code, general.CLAIM_IN_GROUP(), now)
                reply = Greeting(text=words)
            elif is_silenced(connection, asker, now):
                return None
            else:
                reply = _claim(connection, asker, code, self._zone, now)
            if not reply.text:
                return None
            return outbox.enqueue(connection, reply.make_outgoing(platform, chat), now=now)

        row = await self._database.write("people.claim", work)
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
        if len(self._known) > self._most_known:
            self._known.popitem(last=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Approved:
    """A person who was let in, and the greeting for the chat in which they asked."""

    name: str
    greeting: NewOutboxMessage


def approve(connection: Connection, code: str, zone: str, now: int) -> Approved | None:
    """Let in the account that received this pairing code; return None for an invalid code.

    `zone` is the IANA zone that the newcomer is offered first; it may be empty.
    """
    found = people.find_code(connection, code_hash=hash_code(code), purpose="pairing", now=now)
    if found is None or found.platform is None or found.user_id is None or found.chat is None:
        return None
    people.use_code(connection, code_id=found.id, now=now)
    name = found.display_name or found.user_id
    sender = Sender(
        user_id=PlatformUserId(found.user_id),
        display_name=name,
        language=found.language,
        time_zone=found.time_zone,
    )
    asker = AccountRef(platform=found.platform, sender=sender)
    person = _enter(connection, asker, "code", now=now)
    reply = greet(connection, person, sender, zone, now)
    return Approved(name=name, greeting=reply.make_outgoing(found.platform, found.chat))


def _make_asker(platform: str, sender: Sender, chat: str) -> people.CodeAsker:
    return people.CodeAsker(
        platform=platform,
        user_id=sender.user_id,
        display_name=sender.display_name,
        chat=chat,
        language=sender.language,
        time_zone=sender.time_zone,
    )


def new_claim_code(connection: Connection, *, now: int) -> str:
    """Make a new claim code; earlier ones become invalid."""
    code = make_code()
    people.retire_codes(connection, purpose="claim", now=now)
    people.insert_code(
        connection,
        purpose="claim",
        code_hash=hash_code(code),
        asker=None,
        now=now,
        expires_at=now + _CLAIM_LASTS,
    )
    return code


def slug_of(name: str) -> str:
    """Make a folder name from a display name."""
    ascii_name = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", ascii_name.lower()).strip("-")[:40] or "person"


def is_silenced(connection: Connection, asker: AccountRef, now: int) -> bool:
    """Return whether an account sent too many wrong codes recently; it then gets no answer."""
    user_id = asker.sender.user_id
    return account_links.is_silenced(connection, platform=asker.platform, user_id=user_id, now=now)


def count_wrong_code(connection: Connection, asker: AccountRef, words: str, now: int) -> str:
    """Count a wrong code; return `words`, or a notice that codes are no longer checked."""
    user_id = asker.sender.user_id
    wrong = account_links.count_wrong(connection, platform=asker.platform, user_id=user_id, now=now)
    if wrong < account_links.WRONG_CODES:
        return words
    note(connection, asker, None, "code.guessed", f"{wrong} wrong codes", now)
    return general.CODE_BLOCKED()


def spoil(connection: Connection, asker: AccountRef, code: str, words: str, now: int) -> str:
    """Invalidate a code that others could read, whatever it was for, and return `words`.

    It counts as a wrong code, so that nobody can guess codes in a room. A silenced account
    gets no words, but the code becomes invalid all the same.
    """
    code_hash = hash_code(code)
    found = people.find_code(connection, code_hash=code_hash, purpose="claim", now=now)
    if found:
        people.use_code(connection, code_id=found.id, now=now)
    link = account_links.find_open(connection, code_hash=code_hash, now=now)
    if link:
        account_links.close(connection, link_id=link.id, outcome="over", now=now)
    if is_silenced(connection, asker, now):
        return ""
    count_wrong_code(connection, asker, words, now)
    return words


def _claim(connection: Connection, asker: AccountRef, code: str, zone: str, now: int) -> Greeting:
    if not code:
        words = count_wrong_code(connection, asker, general.CODE_MISSING(command="claim"), now)
        return Greeting(text=words)
    found = people.find_code(connection, code_hash=hash_code(code), purpose="claim", now=now)
    if found is None:
        return Greeting(text=count_wrong_code(connection, asker, general.CODE_INVALID(), now))
    people.use_code(connection, code_id=found.id, now=now)
    person = _enter(connection, asker, "code", now=now, is_owner=True)
    people.make_owner(connection, person_id=person.id)
    note(connection, asker, person, "claim", "became an owner", now)
    name_after(connection, person, asker.sender.display_name)
    owner = people.find(connection, person_id=person.id) or person
    return greet(connection, owner, asker.sender, zone, now)


def name_after(connection: Connection, person: Person, name: str) -> None:
    """Name a person after a platform account, if only the console named them before."""
    accounts = people.list_accounts(connection, person_id=person.id)
    if name and (LOCAL_PLATFORM, person.name) in [(a.platform, a.display_name) for a in accounts]:
        people.rename(connection, person_id=person.id, name=name)


def note(
    connection: Connection,
    asker: AccountRef,
    about: Person | None,
    action: str,
    detail: str,
    now: int,
) -> None:
    """Record an account's action in the audit log; `about` is the person concerned."""
    deed = AuditEntry(
        person_id=about.id if about else None,
        actor=f"account:{asker.platform}:{asker.sender.user_id}",
        action=action,
        detail=detail,
        created_at=now,
    )
    audit.record(connection, deed)


def _enter(
    connection: Connection,
    asker: AccountRef,
    admission: Admission,
    *,
    now: int,
    is_owner: bool = False,
) -> Person:
    """Return the person of an account: its current one, the owner, or a new one."""
    sender = asker.sender
    is_owner = is_owner or admission == "local"
    name = sender.display_name or sender.user_id
    account = NewAccount(
        platform=asker.platform,
        user_id=sender.user_id,
        display_name=name,
        admitted_by=admission,
    )
    person = people.find_by_account(connection, platform=asker.platform, user_id=sender.user_id)
    if person is None and is_owner:
        person = people.find_owner(connection)
    if person is None:
        slug = "owner" if is_owner else slug_of(name)
        role: Role = "owner" if is_owner else "member"
        person = people.insert(connection, slug=slug, name=name, role=role, now=now)
    people.attach_account(connection, account, person_id=person.id, now=now)
    return person
