"""Turns a platform account into a person: recognising, claiming, pairing."""

import hashlib
import re
import secrets
import unicodedata
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from adapters.ids import PlatformUserId
from adapters.messages import InboundMessage, Sender
from agent_core.ids import InboxId
from agent_core.state.engine.database import Connection, Database
from agent_core.state.people import account_links, audit, people
from agent_core.state.people.audit import AuditEntry
from agent_core.state.people.people import Account, Admission, NewAccount, Person, Role
from agent_core.state.queues import inbox, outbox
from agent_core.state.queues.outbox import NewOutboxMessage, OutboxRow
from gateway import conversion
from gateway.texts import general


class Access:
    """The allow list: `platform:user_id` entries, or `*` for everybody."""

    def __init__(self, allow: tuple[str, ...]) -> None:
        self._everybody = "*" in allow
        self._accounts = frozenset(allow)

    def allows(self, platform: str, user_id: str) -> bool:
        """True if this account may talk; deny is the default."""
        return self._everybody or f"{platform}:{user_id}" in self._accounts


LOCAL_PLATFORM = "console"
"""Its socket lies in the home with mode 0600: whoever opens it owns the home."""

_ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
_CODE_LENGTH = 8
_PAIRING_LASTS = 3_600_000
_CLAIM_LASTS = 24 * 3_600_000
_STRANGER_PAUSE = 3_600_000
_MOST_KNOWN = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountRef:
    """An account that sent a code."""

    platform: str
    sender: Sender


class Identity:
    """The people of this house and how they are known."""

    def __init__(self, database: Database, access: Access, now: Callable[[], int]) -> None:
        self._database = database
        self._access = access
        self._now = now
        self._known: OrderedDict[tuple[str, str], Person] = OrderedDict()
        self._forgotten = 0

    async def identify(self, platform: str, sender: Sender) -> Person | None:
        """The person behind an account, or None for a stranger.

        An account on the allow list becomes a person of its own at its first message; the
        local console is the owner's. Raises `StoreError`.
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
        # What was read before people were to be read afresh may be out of date.
        if person is not None and forgotten == self._forgotten:
            self._remember(key, person)
        return person

    def _find(self, connection: Connection, asker: AccountRef) -> Person | None:
        """The person of an account that may still talk; off the list means out.

        Of accounts that are one person each may talk as long as one of them may by itself.
        """
        account = people.find_account(
            connection, platform=asker.platform, user_id=asker.sender.user_id
        )
        if account is None:
            return None
        if not self.is_admitted(account):
            others = people.list_accounts(connection, person_id=account.person_id)
            if not any(self.is_admitted(other) for other in others):
                return None
        return people.find(connection, person_id=account.person_id)

    def is_admitted(self, account: Account) -> bool:
        """True for an account that may talk by a right of its own."""
        is_listed = account.admitted_by == "list"
        return not is_listed or self._access.allows(account.platform, account.user_id)

    async def _let_in(self, asker: AccountRef) -> Person | None:
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
        """Tell a stranger, at most once an hour, how to be let in. Raises `StoreError`.

        In rooms strangers get silence. The event is done in the same transaction.
        """
        sender = message.sender
        now = self._now()

        def work(connection: Connection) -> OutboxRow | None:
            inbox.finish(connection, inbox_id=inbox_id, reason="stranger")
            latest = people.find_latest_pairing(
                connection, platform=platform, user_id=sender.user_id
            )
            has_owner = people.find_owner(connection) is not None
            if account_links.is_silenced(
                connection, platform=platform, user_id=sender.user_id, now=now
            ):
                return None
            told_lately = (
                latest is not None
                and now - latest.created_at < _STRANGER_PAUSE
                # Who was told that there is no owner has no code: once there is one, they get it.
                and not (has_owner and latest.expires_at == latest.created_at)
            )
            if told_lately or not message.address.is_direct:
                return None
            code = make_code()
            chat = conversion.name_chat(message.address)
            people.insert_code(
                connection,
                purpose="pairing",
                code_hash=hash_code(code),
                asker=(platform, sender.user_id, sender.display_name, chat),
                now=now,
                # A code that nobody is shown was never good: only its hour counts.
                expires_at=now + _PAIRING_LASTS if has_owner else now,
            )
            words = general.describe_stranger(code if has_owner else None)
            return outbox.enqueue(
                connection, NewOutboxMessage(platform=platform, chat=chat, body=words), now=now
            )

        return await self._database.write("people.stranger", work)

    async def claim(
        self, platform: str, message: InboundMessage, inbox_id: InboxId, code: str
    ) -> OutboxRow | None:
        """Make an account the owner's if the code is good, and answer. Raises `StoreError`.

        Who guesses is told to stop, and gets silence after that. A code that was written
        where others read it is worth nothing any more.
        """
        asker = AccountRef(platform=platform, sender=message.sender)
        now = self._now()
        chat = conversion.name_chat(message.address)

        def work(connection: Connection) -> OutboxRow | None:
            inbox.finish(connection, inbox_id=inbox_id, reason="claim")
            if not message.address.is_direct:
                words = spoil(connection, asker, code, general.CLAIM_IN_GROUP(), now)
            elif is_silenced(connection, asker, now):
                return None
            else:
                words = _claim(connection, asker, code, now)
            if not words:
                return None
            return outbox.enqueue(
                connection, NewOutboxMessage(platform=platform, chat=chat, body=words), now=now
            )

        row = await self._database.write("people.claim", work)
        self.forget_known()
        return row

    def is_known(self, platform: str, sender: Sender) -> bool:
        """True for an account that was recognised lately."""
        return (platform, sender.user_id) in self._known

    def renew(self, person: Person) -> None:
        """Know a person as they are now, by every account that they used lately."""
        for key, known in self._known.items():
            if known.id == person.id:
                self._known[key] = person

    def forget_known(self) -> None:
        """Read people afresh from the database from now on."""
        self._forgotten += 1
        self._known.clear()

    def _remember(self, key: tuple[str, str], person: Person) -> None:
        self._known[key] = person
        if len(self._known) > _MOST_KNOWN:
            self._known.popitem(last=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Approved:
    """Somebody who was let in: their name, and where they asked."""

    name: str
    platform: str
    chat: str


def approve(connection: Connection, code: str, now: int) -> Approved | None:
    """Let the account in that was given this pairing code, if the code is good."""
    found = people.find_code(connection, code_hash=hash_code(code), purpose="pairing", now=now)
    if found is None or found.platform is None or found.user_id is None or found.chat is None:
        return None
    people.use_code(connection, code_id=found.id, now=now)
    name = found.display_name or found.user_id
    sender = Sender(user_id=PlatformUserId(found.user_id), display_name=name)
    _enter(connection, AccountRef(platform=found.platform, sender=sender), "code", now=now)
    return Approved(name=name, platform=found.platform, chat=found.chat)


def new_claim_code(connection: Connection, *, now: int) -> str:
    """A fresh claim code; the ones before it are no longer good."""
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


def make_code() -> str:
    """A one-time code of 40 random bits, without letters that look alike."""
    letters = "".join(secrets.choice(_ALPHABET) for _ in range(_CODE_LENGTH))
    return f"{letters[:4]}-{letters[4:]}"


def hash_code(code: str) -> str:
    """What is stored of a code; spaces, dashes and case do not matter."""
    plain = re.sub(r"[\s-]", "", code).upper()
    return hashlib.sha256(plain.encode()).hexdigest()


def slug_of(name: str) -> str:
    """A folder name made of a display name."""
    ascii_name = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", ascii_name.lower()).strip("-")[:40] or "person"


def is_silenced(connection: Connection, asker: AccountRef, now: int) -> bool:
    """True for an account that sent too many wrong codes lately; it gets no answer."""
    user_id = asker.sender.user_id
    return account_links.is_silenced(connection, platform=asker.platform, user_id=user_id, now=now)


def count_wrong_code(connection: Connection, asker: AccountRef, words: str, now: int) -> str:
    """Count a code that came to nothing; `words`, or that no more codes are looked at."""
    user_id = asker.sender.user_id
    wrong = account_links.count_wrong(connection, platform=asker.platform, user_id=user_id, now=now)
    if wrong < account_links.WRONG_CODES:
        return words
    note(connection, asker, None, "code.guessed", f"{wrong} wrong codes", now)
    return general.CODE_BLOCKED()


def spoil(connection: Connection, asker: AccountRef, code: str, words: str, now: int) -> str:
    """End a code that others have read, whatever it was for; `words` say so.

    Counts as a wrong one, so that nobody can try codes out in a room; an account that is
    not listened to gets no words, but what it shows to others is ended all the same.
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


def _claim(connection: Connection, asker: AccountRef, code: str, now: int) -> str:
    if not code:
        return count_wrong_code(connection, asker, general.CODE_MISSING(command="claim"), now)
    found = people.find_code(connection, code_hash=hash_code(code), purpose="claim", now=now)
    if found is None:
        return count_wrong_code(connection, asker, general.CODE_INVALID(), now)
    people.use_code(connection, code_id=found.id, now=now)
    person = _enter(connection, asker, "code", now=now, is_owner=True)
    people.make_owner(connection, person_id=person.id)
    note(connection, asker, person, "claim", "became an owner", now)
    return general.CLAIMED()


def note(
    connection: Connection,
    asker: AccountRef,
    about: Person | None,
    action: str,
    detail: str,
    now: int,
) -> None:
    """Write down what an account did; `about` is whom it concerns."""
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
    """The person of an account: whose it is already, or the owner, or somebody new."""
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
