"""Admission of accounts: people enter by the allowlist, a claim code or a pairing code."""

import re
import unicodedata
from dataclasses import dataclass, replace
from typing import Final

from adapters.console.settings import OWNER
from adapters.ids import PlatformUserId
from adapters.messages import Sender
from agent_core.chats import Chat
from agent_core.ids import PersonId
from agent_core.state.engine.database import Connection
from agent_core.state.people import account_links, audit, codes, people
from agent_core.state.people.audit import AuditEntry
from agent_core.state.people.people import Admission, NewAccount, Person, PersonRole
from agent_core.state.queues.outbox import NewOutboxMessage
from gateway.people.onboarding import Greeting, greet, hash_code, make_code
from gateway.texts import general
from gateway.texts.people import quote_name

LOCAL_PLATFORM = "console"
"""The console's platform. Only the home's owner can open its socket in the home (mode 0600)."""
LOCAL_USER: Final = OWNER
"""The only account of the console. Any other sender there is a person on a page, named by id."""

API_PLATFORM = "api"
"""The API's platform. Its senders are person ids, because a token identifies the person."""
UNATTENDED = frozenset({LOCAL_PLATFORM, API_PLATFORM})
"""Platforms that reach nobody on their own: people get answers there only when they ask."""

_CLAIM_LASTS = 24 * 3_600_000
INVITATION_LASTS = 7 * 24 * 3_600_000
"""Milliseconds; the invited person may not look at their chats every day."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountRef:
    """An account on a platform."""

    platform: str
    sender: Sender

    @property
    def is_person(self) -> bool:
        """Return whether the sender is no account, but named by the id of their person.

        A token or a login has identified them.
        """
        is_owner = self.sender.user_id == LOCAL_USER
        return self.platform == API_PLATFORM or (self.platform == LOCAL_PLATFORM and not is_owner)


@dataclass(frozen=True, slots=True, kw_only=True)
class Approved:
    """A person who was let in, and the greeting for the chat in which they asked."""

    name: str
    greeting: NewOutboxMessage


def approve(
    connection: Connection, code: str | int, zone: str, now: int, *, by: PersonId | None = None
) -> Approved | str:
    """Let in the account that waits with a pairing code, or return why nobody is let in.

    `code` is the code or its number, `by` the person who does it. `zone` is the IANA zone that the
    newcomer is offered first; it may be empty.
    """
    key = code if isinstance(code, int) else hash_code(code)
    found = codes.find_pairing(connection, code=key)
    if found is None or found.platform is None or found.user_id is None or found.chat is None:
        return general.CODE_INVALID()
    if not found.is_open(now):
        return explain_closed(connection, found, by)
    codes.use(connection, code_id=found.id, now=now)
    name = found.display_name or found.user_id
    sender = Sender(
        user_id=PlatformUserId(found.user_id),
        display_name=name,
        language=found.language,
        time_zone=found.time_zone,
    )
    asker = AccountRef(platform=found.platform, sender=sender)
    person = enter(connection, asker, "code", now=now)
    reply = greet(connection, person, sender, zone, now)
    chat = Chat(platform=found.platform, address=found.chat)
    return Approved(name=name, greeting=reply.make_outgoing(chat))


def explain_closed(connection: Connection, found: codes.Code, by: PersonId | None = None) -> str:
    """Say why a pairing code is closed: its account is in, or waits no more."""
    platform, user_id = found.platform or "", found.user_id or ""
    person = people.find_by_account(connection, platform=platform, user_id=user_id)
    name = quote_name(found.display_name or user_id)
    if person is None:
        return general.WAITS_NO_MORE(name=name)
    return general.IN_ALREADY() if person.id == by else general.LET_IN_ALREADY(name=name)


def make_asker(platform: str, sender: Sender, chat: str) -> codes.CodeAsker:
    """Describe the account that a pairing code is for; `chat` is where it is greeted."""
    return codes.CodeAsker(
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
    codes.retire(connection, purpose="claim", now=now)
    codes.insert(
        connection,
        purpose="claim",
        code_hash=hash_code(code),
        asker=None,
        now=now,
        expires_at=now + _CLAIM_LASTS,
    )
    return code


def invite(connection: Connection, guest: str, actor: str, now: int) -> str:
    """Make a code that lets one account in, and return it. Record who invited whom."""
    code = make_code()
    codes.insert_invitation(
        connection,
        code_hash=hash_code(code),
        guest=guest,
        now=now,
        expires_at=now + INVITATION_LASTS,
    )
    deed = AuditEntry(
        person_id=None, actor=actor, action="people.invite", detail=guest, created_at=now
    )
    audit.record(connection, deed)
    return code


def join(connection: Connection, asker: AccountRef, code: str, zone: str, now: int) -> Greeting:
    """Let an account in if the code of its invitation is valid; return the answer.

    Whoever is in already keeps the code for somebody else.
    """
    sender = asker.sender
    if people.find_by_account(connection, platform=asker.platform, user_id=sender.user_id):
        return Greeting(text=general.IN_ALREADY())
    if not code:
        words = count_wrong_code(connection, asker, general.CODE_MISSING(command="join"), now)
        return Greeting(text=words)
    found = codes.find(connection, code_hash=hash_code(code), purpose="invite", now=now)
    if found is None:
        return Greeting(text=count_wrong_code(connection, asker, general.CODE_INVALID(), now))
    codes.use(connection, code_id=found.id, now=now)
    person = enter(connection, asker, "code", now=now)
    note(connection, asker, person, "people.join", found.display_name or "", now)
    return greet(connection, person, sender, zone, now)


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
    purposes: tuple[codes.Purpose, ...] = ("claim", "invite")
    for purpose in purposes:
        if found := codes.find(connection, code_hash=code_hash, purpose=purpose, now=now):
            codes.use(connection, code_id=found.id, now=now)
    link = account_links.find_open(connection, code_hash=code_hash, now=now)
    if link:
        account_links.close(connection, link_id=link.id, outcome="over", now=now)
    if is_silenced(connection, asker, now):
        return ""
    count_wrong_code(connection, asker, words, now)
    return words


def claim(
    connection: Connection,
    asker: AccountRef,
    code: str,
    zone: str,
    now: int,
    *,
    owner_zone: str = "",
) -> Greeting:
    """Make an account an owner's if the claim code is valid; return the answer.

    `owner_zone` is the IANA zone of an owner who has set none in a chat; "" if it is unknown.
    """
    if not code:
        words = count_wrong_code(connection, asker, general.CODE_MISSING(command="claim"), now)
        return Greeting(text=words)
    found = codes.find(connection, code_hash=hash_code(code), purpose="claim", now=now)
    if found is None:
        return Greeting(text=count_wrong_code(connection, asker, general.CODE_INVALID(), now))
    codes.use(connection, code_id=found.id, now=now)
    person = enter(connection, asker, "code", now=now, is_owner=True)
    people.make_owner(connection, person_id=person.id)
    note(connection, asker, person, "claim", "became an owner", now)
    name_after(connection, person, asker.sender.display_name)
    owner = people.find(connection, person_id=person.id) or person
    owner = replace(owner, time_zone=owner.time_zone or owner_zone or None)
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


def enter(
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
        role: PersonRole = "owner" if is_owner else "member"
        person = people.insert(connection, slug=slug, name=name, role=role, now=now)
    people.attach_account(connection, account, person_id=person.id, now=now)
    codes.retire_pairings(connection, platform=asker.platform, user_id=sender.user_id, now=now)
    return person
