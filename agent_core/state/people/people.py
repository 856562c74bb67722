"""Queries over people and their platform accounts."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from agent_core.ids import AccountId, PersonId
from agent_core.state.engine.connection import Decoders, list_fields, read_all, read_one
from agent_core.state.engine.database import Connection
from agent_core.tool_names import renew_names

PersonRole = Literal["owner", "member"]
PersonKind = Literal["human", "room", "team", "block"]
"""A person, or another memory owner: a room, the team or a memory block. See `rooms` and
`blocks`.
"""
Verbosity = Literal["quiet", "normal", "verbose"]
"""The detail shown of a running turn: only the answer, a line if it takes long, or every tool."""
SpokenAnswers = Literal["off", "voice", "always"]
"""The answers that are also sent as audio: none, those to voice messages, or all."""
Learning = Literal["off", "ask", "quiet", "tell"]
"""Reviews of a person's turns: none, or those that ask first, report silently, or with a sound."""
Summary = Literal["", "daily", "weekly"]
"""How often one summary replaces the messages about what was learned; "" means never."""
Admission = Literal["list", "code", "local"]
"""How an account was admitted: by the allow list (only while it is on the list), by a one-time
code, or as the account of the local console.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """A person who may talk to the assistant. `slug` names their folder under memories/.

    `time_zone` is an IANA name, `language` a BCP 47 tag. Quiet hours are minutes after midnight in
    their time zone; either both or neither are set. `asked_at` is when they were asked for missing
    settings, in milliseconds.
    """

    id: PersonId
    slug: str
    name: str
    role: PersonRole
    time_zone: str | None
    language: str | None = None
    quiet_from: int | None = None
    quiet_until: int | None = None
    verbosity: Verbosity = "normal"
    asked_at: int | None = None
    kind: PersonKind = "human"
    context_cap: int | None = None
    """The most input tokens per model call for them, if they have set a limit."""
    model: str = ""
    """The model that answers them in private, if they have chosen one."""
    spoken_answers: SpokenAnswers = "off"
    tools_off: tuple[str, ...] = ()
    """The tools that they have switched off."""
    agent: str = ""
    """The named agent that answers them in private, "" for the assistant itself."""
    learning: Learning = "quiet"
    learning_summary: Summary = ""

    @property
    def is_owner(self) -> bool:
        """True for owners."""
        return self.role == "owner"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewAccount:
    """A platform account to add."""

    platform: str
    user_id: str
    display_name: str
    admitted_by: Admission


@dataclass(frozen=True, slots=True, kw_only=True)
class Account(NewAccount):
    """A platform account of a person.

    `came_from` is its person before a merge, None if it was never merged.
    """

    id: AccountId
    person_id: PersonId
    created_at: int
    came_from: PersonId | None


LEAST_CAP = 8_000
"""The least input tokens that fit a prompt, its tools and a short conversation."""
MOST_CAP = 10_000_000

_COLUMNS = (
    *("id", "slug", "name", "role", "time_zone", "language", "quiet_from", "quiet_until"),
    *("verbosity", "asked_at", "kind", "context_cap", "model"),
    *("spoken_answers", "tools_off", "agent", "learning", "learning_summary"),
)
_PERSON = ", ".join(f"people.{column}" for column in _COLUMNS)
_DECODE: Decoders = {"tools_off": lambda names: renew_names(names.split())}
_ACCOUNT = "id, person_id, platform, user_id, display_name, admitted_by, created_at, came_from"


def find_by_account(connection: Connection, *, platform: str, user_id: str) -> Person | None:
    """Return the person whom a platform account belongs to."""
    found = connection.execute(
        f"SELECT {_PERSON} FROM people JOIN accounts ON accounts.person_id = people.id"
        " WHERE accounts.platform = :platform AND accounts.user_id = :user_id",
        {"platform": platform, "user_id": user_id},
    )
    return read_one(Person, found, **_DECODE)


def find(connection: Connection, *, person_id: PersonId) -> Person | None:
    """Return the person of this id."""
    found = connection.execute(
        f"SELECT {_PERSON} FROM people WHERE id = :person_id", {"person_id": person_id}
    )
    return read_one(Person, found, **_DECODE)


def find_kept(connection: Connection, *, person_id: PersonId) -> PersonId:
    """Return the id of the person into whom this one was merged, if they were, or their own."""
    row = connection.execute(
        "SELECT joined_to FROM people WHERE id = :person_id", {"person_id": person_id}
    ).fetchone()
    return PersonId(row[0]) if row and row[0] else person_id


def find_owner(connection: Connection) -> Person | None:
    """Return the first owner, if there is one."""
    found = connection.execute(
        f"SELECT {_PERSON} FROM people WHERE role = 'owner' AND joined_to IS NULL"
        " ORDER BY id LIMIT 1"
    )
    return read_one(Person, found, **_DECODE)


def find_by_slug(connection: Connection, *, slug: str) -> Person | None:
    """Return the person with this folder name who is not merged into another; no room."""
    found = connection.execute(
        f"SELECT {_PERSON} FROM people WHERE slug = :slug AND kind = 'human' AND joined_to IS NULL",
        {"slug": slug},
    )
    return read_one(Person, found, **_DECODE)


def list_all(connection: Connection) -> list[Person]:
    """List all people who are not merged into others, oldest first; no rooms."""
    rows = connection.execute(
        f"SELECT {_PERSON} FROM people WHERE kind = 'human' AND joined_to IS NULL ORDER BY id"
    )
    return read_all(Person, rows, **_DECODE)


def list_page(connection: Connection, *, before: PersonId, limit: int) -> list[Person]:
    """List people with ids below `before` who are not merged into others, newest first."""
    rows = connection.execute(
        f"SELECT {_PERSON} FROM people WHERE kind = 'human' AND joined_to IS NULL"
        " AND id < :before ORDER BY id DESC LIMIT :limit",
        {"before": before, "limit": limit},
    )
    return read_all(Person, rows, **_DECODE)


def find_account(connection: Connection, *, platform: str, user_id: str) -> Account | None:
    """Return a known account."""
    found = connection.execute(
        f"SELECT {_ACCOUNT} FROM accounts WHERE platform = :platform AND user_id = :user_id",
        {"platform": platform, "user_id": user_id},
    )
    return read_one(Account, found)


def list_accounts(connection: Connection, *, person_id: PersonId) -> list[Account]:
    """List the accounts of a person, oldest first."""
    rows = connection.execute(
        f"SELECT {_ACCOUNT} FROM accounts WHERE person_id = :person_id ORDER BY id",
        {"person_id": person_id},
    )
    return read_all(Account, rows)


def find_first_moment(connection: Connection, *, person_id: PersonId) -> int:
    """Return when a person or one of their accounts became known, in milliseconds; 0 if erased.

    If the person was split off from somebody else, an account may be older than the person.
    """
    row = connection.execute(
        "SELECT MIN(accounts.created_at), people.created_at FROM people"
        " JOIN accounts ON accounts.person_id = people.id WHERE people.id = :person_id",
        {"person_id": person_id},
    ).fetchone()
    return min(moment or 0 for moment in row)


def has_platform_owner(connection: Connection, *, local_platform: str) -> bool:
    """Return whether an owner has an account on any platform but the local console."""
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
    role: PersonRole,
    now: int,
    kind: PersonKind = "human",
) -> Person:
    """Add a person or another memory owner. A taken slug gets the next free number."""
    free, number = slug, 1
    # One look at the index for each number; a pattern would read every person, for each new one.
    while connection.execute("SELECT 1 FROM people WHERE slug = ?", (free,)).fetchone():
        number += 1
        free = f"{slug}-{number}"
    rows = connection.execute(
        "INSERT INTO people (slug, name, role, created_at, kind)"
        f" VALUES (:slug, :name, :role, :now, :kind) RETURNING {_PERSON}",
        {"slug": free, "name": name, "role": role, "now": now, "kind": kind},
    )
    return read_all(Person, rows, **_DECODE)[0]


def attach_account(
    connection: Connection, account: NewAccount, *, person_id: PersonId, now: int
) -> None:
    """Give a new platform account to a person; a known account stays with its person.

    An account from the allow list that sends a code counts as admitted by the code from then on.
    """
    connection.execute(
        "INSERT INTO accounts (person_id, platform, user_id, display_name, admitted_by,"
        " created_at) VALUES (:person_id, :platform, :user_id, :display_name, :admitted_by, :now)"
        " ON CONFLICT (platform, user_id) DO UPDATE SET admitted_by = excluded.admitted_by"
        " WHERE excluded.admitted_by <> 'list'",
        {**list_fields(account), "person_id": person_id, "now": now},
    )


def make_owner(connection: Connection, *, person_id: PersonId) -> None:
    """Make a person an owner."""
    connection.execute(
        "UPDATE people SET role = 'owner' WHERE id = :person_id", {"person_id": person_id}
    )


def rename(connection: Connection, *, person_id: PersonId, name: str) -> None:
    """Change the name of a person; the folder of their memory keeps its name."""
    connection.execute(
        "UPDATE people SET name = :name WHERE id = :person_id",
        {"person_id": person_id, "name": name},
    )


def set_preferences(connection: Connection, person: Person) -> None:
    """Store a person's own settings; the model, the agent and others have their own functions."""
    connection.execute(
        "UPDATE people SET time_zone = :time_zone, language = :language, quiet_from = :quiet_from,"
        " quiet_until = :quiet_until, verbosity = :verbosity, context_cap = :context_cap,"
        " spoken_answers = :spoken_answers WHERE id = :id",
        list_fields(person),
    )


def set_model(connection: Connection, *, person_id: PersonId, model: str) -> None:
    """Store the model that a person chose; an empty one means the deployment's model."""
    connection.execute(
        "UPDATE people SET model = :model WHERE id = :person_id",
        {"model": model, "person_id": person_id},
    )


def note_asked(connection: Connection, *, person_id: PersonId, now: int) -> None:
    """Record that a person was asked for missing settings, so that they are asked only once."""
    connection.execute(
        "UPDATE people SET asked_at = :now WHERE id = :person_id",
        {"person_id": person_id, "now": now},
    )


def bind_agent(connection: Connection, *, person_id: PersonId, agent: str) -> None:
    """Bind a person's direct chats, or a room, to an agent; "" is the assistant itself."""
    connection.execute(
        "UPDATE people SET agent = :agent WHERE id = :person_id",
        {"agent": agent, "person_id": person_id},
    )


def switch_tools_off(connection: Connection, *, person_id: PersonId, names: Iterable[str]) -> None:
    """Store the tools that are off for a person, or in a room."""
    connection.execute(
        "UPDATE people SET tools_off = :names WHERE id = :person_id",
        {"names": " ".join(sorted(set(names))), "person_id": person_id},
    )
