"""Queries over requests to link two accounts, and over wrong codes."""

from dataclasses import dataclass
from typing import Literal

from agent_core.chats import Chat
from agent_core.ids import LinkId, PersonId
from agent_core.state.engine.connection import list_fields
from agent_core.state.engine.database import Connection

LinkState = Literal["open", "asked", "joined", "refused", "over"]
"""The states: code issued; code sent by another account; linked; refused; expired."""

WRONG_CODES = 5
"""The number of wrong codes within `PAUSE` after which an account is ignored for `PAUSE`."""
PAUSE = 600_000
"""The pause in milliseconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherSide:
    """The account that sent the code.

    `person_id` is the person of the account at that time, None for a stranger.
    """

    platform: str
    user_id: str
    name: str
    chat: str
    person_id: PersonId | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A request to link two accounts, made in `chat`."""

    id: LinkId
    person_id: PersonId
    chat: Chat
    state: LinkState
    other: OtherSide | None
    expires_at: int


_ROW = (
    "id, person_id, platform, chat, state, expires_at, other_platform, other_user_id, other_name,"
    " other_chat, other_person"
)


def _link(row: tuple[int, int, str, str, LinkState, int, str | None, str, str, str, int]) -> Link:
    other = None
    if row[6] is not None:
        other = OtherSide(
            platform=row[6],
            user_id=row[7],
            name=row[8],
            chat=row[9],
            person_id=None if row[10] is None else PersonId(row[10]),
        )
    return Link(
        id=LinkId(row[0]),
        person_id=PersonId(row[1]),
        chat=Chat(platform=row[2], address=row[3]),
        state=row[4],
        other=other,
        expires_at=row[5],
    )


def insert(
    connection: Connection,
    *,
    person_id: PersonId,
    code_hash: str,
    chat: Chat,
    now: int,
    expires_at: int,
) -> LinkId:
    """Store a request; `chat` is the chat for its confirmation."""
    row = connection.execute(
        "INSERT INTO link_requests (person_id, code_hash, platform, chat, state, created_at,"
        " expires_at) VALUES (:person_id, :code_hash, :platform, :chat, 'open', :now, :expires_at)"
        " RETURNING id",
        {
            "person_id": person_id,
            "code_hash": code_hash,
            "platform": chat.platform,
            "chat": chat.address,
            "now": now,
            "expires_at": expires_at,
        },
    ).fetchone()
    return LinkId(row[0])


def find(connection: Connection, *, link_id: LinkId) -> Link | None:
    """Return the request of this id."""
    row = connection.execute(
        f"SELECT {_ROW} FROM link_requests WHERE id = :link_id", {"link_id": link_id}
    ).fetchone()
    return _link(row) if row else None


def find_open(connection: Connection, *, code_hash: str, now: int) -> Link | None:
    """Return the request with this code, if the code is unused and has not expired."""
    row = connection.execute(
        f"SELECT {_ROW} FROM link_requests WHERE code_hash = :code_hash AND state = 'open'"
        " AND expires_at > :now",
        {"code_hash": code_hash, "now": now},
    ).fetchone()
    return _link(row) if row else None


def list_live(connection: Connection, *, person_id: PersonId) -> list[Link]:
    """List a person's requests that are neither linked nor closed, oldest first."""
    rows = connection.execute(
        f"SELECT {_ROW} FROM link_requests WHERE person_id = :person_id"
        " AND state IN ('open', 'asked') ORDER BY id",
        {"person_id": person_id},
    ).fetchall()
    return [_link(row) for row in rows]


def list_joined(connection: Connection, *, person_id: PersonId) -> dict[tuple[str, str], int]:
    """Return when a person linked each account, in milliseconds, by its platform and user id."""
    rows = connection.execute(
        "SELECT other_platform, other_user_id, MAX(closed_at) FROM link_requests"
        " WHERE person_id = :person_id AND state = 'joined' GROUP BY other_platform, other_user_id",
        {"person_id": person_id},
    ).fetchall()
    return {(row[0], row[1]): row[2] for row in rows}


def list_asked(connection: Connection, *, platform: str, user_id: str) -> list[Link]:
    """List the requests whose code this account has sent and that wait for confirmation."""
    rows = connection.execute(
        f"SELECT {_ROW} FROM link_requests WHERE other_platform = :platform"
        " AND other_user_id = :user_id AND state = 'asked' ORDER BY id",
        {"platform": platform, "user_id": user_id},
    ).fetchall()
    return [_link(row) for row in rows]


def redeem(connection: Connection, *, link_id: LinkId, other: OtherSide) -> bool:
    """Record the account that sent the code; the code is then used up. False if it already was."""
    row = connection.execute(
        "UPDATE link_requests SET state = 'asked', other_platform = :platform,"
        " other_user_id = :user_id, other_name = :name, other_chat = :chat,"
        " other_person = :person_id WHERE id = :link_id AND state = 'open' RETURNING id",
        {**list_fields(other), "link_id": link_id},
    ).fetchone()
    return row is not None


def close(connection: Connection, *, link_id: LinkId, outcome: LinkState, now: int) -> bool:
    """Close a request with its outcome; False if it was closed before."""
    row = connection.execute(
        "UPDATE link_requests SET state = :outcome, closed_at = :now"
        " WHERE id = :link_id AND state IN ('open', 'asked') RETURNING id",
        {"link_id": link_id, "outcome": outcome, "now": now},
    ).fetchone()
    return row is not None


def is_silenced(connection: Connection, *, platform: str, user_id: str, now: int) -> bool:
    """Return whether an account is ignored because of its wrong codes."""
    row = connection.execute(
        "SELECT 1 FROM guesses WHERE platform = :platform AND user_id = :user_id"
        " AND wrong >= :most AND since > :begin",
        {"platform": platform, "user_id": user_id, "most": WRONG_CODES, "begin": now - PAUSE},
    ).fetchone()
    return row is not None


def count_stranger(connection: Connection, *, platform: str, user_id: str, now: int) -> None:
    """Count a message of an account that is not admitted; the message itself is not stored."""
    connection.execute(
        "INSERT INTO strangers (platform, user_id, messages, last_at)"
        " VALUES (:platform, :user_id, 1, :now) ON CONFLICT (platform, user_id) DO UPDATE SET"
        " messages = messages + 1, last_at = :now",
        {"platform": platform, "user_id": user_id, "now": now},
    )


def is_told(connection: Connection, *, platform: str, user_id: str) -> bool:
    """Return whether owners were told that an account waits to be let in."""
    row = connection.execute(
        "SELECT 1 FROM strangers WHERE platform = :platform AND user_id = :user_id"
        " AND told_at IS NOT NULL",
        {"platform": platform, "user_id": user_id},
    ).fetchone()
    return row is not None


def mark_told(connection: Connection, *, platform: str, user_id: str, now: int) -> None:
    """Note that owners were told that an account waits to be let in."""
    connection.execute(
        "UPDATE strangers SET told_at = :now WHERE platform = :platform AND user_id = :user_id",
        {"platform": platform, "user_id": user_id, "now": now},
    )


def count_told(connection: Connection, *, since: int) -> int:
    """Return of how many accounts owners were told since a moment, in milliseconds."""
    row = connection.execute(
        "SELECT COUNT(*) FROM strangers WHERE told_at > :since", {"since": since}
    ).fetchone()
    return int(row[0])


def count_wrong(connection: Connection, *, platform: str, user_id: str, now: int) -> int:
    """Count one more wrong code, and return the number of recent ones.

    When the limit is reached, the pause begins at this moment, so that it is never shortened.
    """
    row = connection.execute(
        "INSERT INTO guesses (platform, user_id, wrong, since)"
        " VALUES (:platform, :user_id, 1, :now) ON CONFLICT (platform, user_id) DO UPDATE SET"
        " wrong = CASE WHEN since > :begin THEN wrong + 1 ELSE 1 END,"
        " since = CASE WHEN since > :begin AND wrong + 1 < :most THEN since ELSE :now END"
        " RETURNING wrong",
        {
            "platform": platform,
            "user_id": user_id,
            "most": WRONG_CODES,
            "begin": now - PAUSE,
            "now": now,
        },
    ).fetchone()
    return int(row[0])
