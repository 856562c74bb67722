"""Queries over people, their platform accounts, and one-time codes."""

from dataclasses import dataclass
from typing import Literal

from agent_core.ids import AccountId, PersonId
from agent_core.state.engine.database import Connection

Role = Literal["owner", "member"]
Kind = Literal["human", "room", "team", "block"]
"""A room that remembers is somebody, too, and so are the team and a named block of memory; see
`rooms` and `blocks`."""
Verbosity = Literal["quiet", "normal", "verbose"]
"""What is shown of a running turn: the answer only, a line when it takes long, every tool."""
Purpose = Literal["claim", "pairing"]
Admission = Literal["list", "code", "local"]
"""How an account came in: by the allow list (and only while it is on it), by a one-time
code, or as the local console's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Someone who may talk to the assistant. `slug` names their folder under memories/.

    `time_zone` is an IANA name, `language` a BCP 47 tag. Quiet hours are minutes after
    midnight in their time zone, both or neither. `asked_at` is when they were to be asked
    for what is not known of these.
    """

    id: PersonId
    slug: str
    name: str
    role: Role
    time_zone: str | None
    language: str | None = None
    quiet_from: int | None = None
    quiet_until: int | None = None
    verbosity: Verbosity = "normal"
    asked_at: int | None = None
    kind: Kind = "human"
    context_cap: int | None = None
    """Tokens of input above which no call of theirs may be, if they have set that."""

    @property
    def is_owner(self) -> bool:
        """True for the people who run this house."""
        return self.role == "owner"


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """A platform account that belongs to a person.

    `came_from` is who it was before it was joined to that person, None if nobody else.
    """

    id: AccountId
    person_id: PersonId
    platform: str
    user_id: str
    display_name: str
    admitted_by: Admission
    created_at: int
    came_from: PersonId | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """A one-time code, kept as a hash; for `pairing`, with the account that asks."""

    id: int
    purpose: Purpose
    platform: str | None
    user_id: str | None
    display_name: str | None
    chat: str | None
    created_at: int
    expires_at: int


LEAST_CAP = 8_000
"""Tokens of a call's input below which there is no room for a prompt, its tools and some talk."""
MOST_CAP = 10_000_000

_COLUMNS = (
    *("id", "slug", "name", "role", "time_zone", "language", "quiet_from", "quiet_until"),
    *("verbosity", "asked_at", "kind", "context_cap"),
)
_PERSON = ", ".join(f"people.{column}" for column in _COLUMNS)
_ACCOUNT = "id, person_id, platform, user_id, display_name, admitted_by, created_at, came_from"
_CODE = "id, purpose, platform, user_id, display_name, chat, created_at, expires_at"


def _person(row: tuple[object, ...]) -> Person:
    return Person(**dict(zip(_COLUMNS, row, strict=True)))  # type: ignore[arg-type]


def _account(row: tuple[int, int, str, str, str, Admission, int, int | None]) -> Account:
    return Account(
        id=AccountId(row[0]),
        person_id=PersonId(row[1]),
        platform=row[2],
        user_id=row[3],
        display_name=row[4],
        admitted_by=row[5],
        created_at=row[6],
        came_from=None if row[7] is None else PersonId(row[7]),
    )


def _code(
    row: tuple[int, Purpose, str | None, str | None, str | None, str | None, int, int],
) -> Code:
    return Code(
        id=row[0],
        purpose=row[1],
        platform=row[2],
        user_id=row[3],
        display_name=row[4],
        chat=row[5],
        created_at=row[6],
        expires_at=row[7],
    )


def find_by_account(connection: Connection, *, platform: str, user_id: str) -> Person | None:
    """The person that a platform account belongs to."""
    row = connection.execute(
        f"SELECT {_PERSON} FROM people JOIN accounts ON accounts.person_id = people.id"
        " WHERE accounts.platform = :platform AND accounts.user_id = :user_id",
        {"platform": platform, "user_id": user_id},
    ).fetchone()
    return _person(row) if row else None


def find(connection: Connection, *, person_id: PersonId) -> Person | None:
    """The person of this id."""
    row = connection.execute(
        f"SELECT {_PERSON} FROM people WHERE id = :person_id", {"person_id": person_id}
    ).fetchone()
    return _person(row) if row else None


def find_owner(connection: Connection) -> Person | None:
    """The first owner, if the house has one."""
    row = connection.execute(
        f"SELECT {_PERSON} FROM people WHERE role = 'owner' AND joined_to IS NULL"
        " ORDER BY id LIMIT 1"
    ).fetchone()
    return _person(row) if row else None


def list_all(connection: Connection) -> list[Person]:
    """Everyone who is somebody of their own, oldest first; no rooms."""
    rows = connection.execute(
        f"SELECT {_PERSON} FROM people WHERE kind = 'human' AND joined_to IS NULL ORDER BY id"
    ).fetchall()
    return [_person(row) for row in rows]


def find_account(connection: Connection, *, platform: str, user_id: str) -> Account | None:
    """An account that somebody has here."""
    row = connection.execute(
        f"SELECT {_ACCOUNT} FROM accounts WHERE platform = :platform AND user_id = :user_id",
        {"platform": platform, "user_id": user_id},
    ).fetchone()
    return _account(row) if row else None


def list_accounts(connection: Connection, *, person_id: PersonId) -> list[Account]:
    """The accounts of a person, oldest first."""
    rows = connection.execute(
        f"SELECT {_ACCOUNT} FROM accounts WHERE person_id = :person_id ORDER BY id",
        {"person_id": person_id},
    ).fetchall()
    return [_account(row) for row in rows]


def has_platform_owner(connection: Connection, *, local_platform: str) -> bool:
    """True once an owner has an account on any platform but the local console."""
    row = connection.execute(
        "SELECT 1 FROM accounts JOIN people ON people.id = accounts.person_id"
        " WHERE people.role = 'owner' AND accounts.platform <> :local LIMIT 1",
        {"local": local_platform},
    ).fetchone()
    return row is not None


def insert(
    connection: Connection,
    *,
    slug: str,
    name: str,
    role: Role,
    now: int,
    kind: Kind = "human",
) -> Person:
    """Add a person, or a room. A taken slug gets the next free number behind it."""
    taken = {
        row[0]
        for row in connection.execute(
            "SELECT slug FROM people WHERE slug = :slug OR slug LIKE :pattern",
            {"slug": slug, "pattern": f"{slug}-%"},
        )
    }
    free, number = slug, 1
    while free in taken:
        number += 1
        free = f"{slug}-{number}"
    row = connection.execute(
        "INSERT INTO people (slug, name, role, created_at, kind)"
        f" VALUES (:slug, :name, :role, :now, :kind) RETURNING {_PERSON}",
        {"slug": free, "name": name, "role": role, "now": now, "kind": kind},
    ).fetchone()
    return _person(row)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewAccount:
    """A platform account that comes in."""

    platform: str
    user_id: str
    display_name: str
    admitted_by: Admission


def attach_account(
    connection: Connection, account: NewAccount, *, person_id: PersonId, now: int
) -> None:
    """Give a platform account to a person; one that is somebody's already stays theirs.

    An account that was on the list and brings a code has the code's right from then on.
    """
    connection.execute(
        "INSERT INTO accounts (person_id, platform, user_id, display_name, admitted_by,"
        " created_at) VALUES (:person_id, :platform, :user_id, :display_name, :admitted_by, :now)"
        " ON CONFLICT (platform, user_id) DO UPDATE SET admitted_by = excluded.admitted_by"
        " WHERE excluded.admitted_by <> 'list'",
        {
            "person_id": person_id,
            "platform": account.platform,
            "user_id": account.user_id,
            "display_name": account.display_name,
            "admitted_by": account.admitted_by,
            "now": now,
        },
    )


def make_owner(connection: Connection, *, person_id: PersonId) -> None:
    """Raise a person to owner."""
    connection.execute(
        "UPDATE people SET role = 'owner' WHERE id = :person_id", {"person_id": person_id}
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Preferences:
    """What a person has set for themselves; see `Person`."""

    time_zone: str | None
    language: str | None
    quiet_from: int | None
    quiet_until: int | None
    verbosity: Verbosity
    context_cap: int | None = None


def set_preferences(
    connection: Connection, preferences: Preferences, *, person_id: PersonId
) -> None:
    """Keep what a person wants."""
    connection.execute(
        "UPDATE people SET time_zone = :time_zone, language = :language, quiet_from = :quiet_from,"
        " quiet_until = :quiet_until, verbosity = :verbosity, context_cap = :context_cap"
        " WHERE id = :person_id",
        {
            "time_zone": preferences.time_zone,
            "language": preferences.language,
            "quiet_from": preferences.quiet_from,
            "quiet_until": preferences.quiet_until,
            "verbosity": preferences.verbosity,
            "context_cap": preferences.context_cap,
            "person_id": person_id,
        },
    )


def note_asked(connection: Connection, *, person_id: PersonId, now: int) -> None:
    """A person was to be asked for what is not known of their preferences; once is enough."""
    connection.execute(
        "UPDATE people SET asked_at = :now WHERE id = :person_id",
        {"person_id": person_id, "now": now},
    )


def insert_code(
    connection: Connection,
    *,
    purpose: Purpose,
    code_hash: str,
    asker: tuple[str, str, str, str] | None,
    now: int,
    expires_at: int,
) -> None:
    """Store a code. `asker` is (platform, user id, display name, chat) of a pairing."""
    platform, user_id, display_name, chat = asker or (None, None, None, None)
    connection.execute(
        "INSERT INTO link_codes (purpose, code_hash, platform, user_id, display_name, chat,"
        " created_at, expires_at) VALUES (:purpose, :code_hash, :platform, :user_id,"
        " :display_name, :chat, :now, :expires_at)",
        {
            "purpose": purpose,
            "code_hash": code_hash,
            "platform": platform,
            "user_id": user_id,
            "display_name": display_name,
            "chat": chat,
            "now": now,
            "expires_at": expires_at,
        },
    )


def find_code(connection: Connection, *, code_hash: str, purpose: Purpose, now: int) -> Code | None:
    """A code that is still good: known, of this purpose, unused and not expired."""
    row = connection.execute(
        f"SELECT {_CODE} FROM link_codes WHERE code_hash = :code_hash AND purpose = :purpose"
        " AND used_at IS NULL AND expires_at > :now",
        {"code_hash": code_hash, "purpose": purpose, "now": now},
    ).fetchone()
    return _code(row) if row else None


def find_latest_pairing(connection: Connection, *, platform: str, user_id: str) -> Code | None:
    """The newest pairing code that an account was given, good or not."""
    row = connection.execute(
        f"SELECT {_CODE} FROM link_codes WHERE purpose = 'pairing' AND platform = :platform"
        " AND user_id = :user_id ORDER BY id DESC LIMIT 1",
        {"platform": platform, "user_id": user_id},
    ).fetchone()
    return _code(row) if row else None


def use_code(connection: Connection, *, code_id: int, now: int) -> None:
    """Mark a code as used, for good."""
    connection.execute(
        "UPDATE link_codes SET used_at = :now WHERE id = :code_id",
        {"code_id": code_id, "now": now},
    )


def retire_codes(connection: Connection, *, purpose: Purpose, now: int) -> None:
    """End every open code of one purpose."""
    connection.execute(
        "UPDATE link_codes SET used_at = :now WHERE purpose = :purpose AND used_at IS NULL",
        {"purpose": purpose, "now": now},
    )
