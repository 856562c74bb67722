"""Queries over what a person did in a chat, with the commands that take it back.

Changes of memory, files and skills have histories of their own. Other deeds that `/undo` knows
are rows of the audit trail.
"""

from dataclasses import dataclass

from agent_core.ids import PersonId
from agent_core.state.engine.database import Connection
from agent_core.state.people import audit
from agent_core.state.people.audit import AuditEntry

_DONE, _TAKEN_BACK = "deed", "deed.undone"
_MOST = 100
"""The newest rows that are looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Doer:
    """Names whose deeds these are; `owner_id` is the person, or the group of the chat."""

    person_id: PersonId
    owner_id: PersonId

    @property
    def actor(self) -> str:
        """The doer, as the audit trail names them."""
        return f"person:{self.person_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Deed:
    """A deed that stands, and the command without slash that takes it back.

    `at` is in milliseconds since the epoch.
    """

    id: int
    undo: str
    at: int


def record(
    connection: Connection, doer: Doer, *, undo: str, now: int, command: str | None = None
) -> None:
    """Record a deed in its transaction; `command` is that of the button that did it, if one did.

    A button that takes back the newest deed does no new one. Without `undo`, nothing else is
    recorded.
    """
    newest = find_newest(connection, doer)
    if newest and newest.undo == command:
        take_back(connection, doer, newest, now=now)
    elif undo:
        _write(connection, doer, _DONE, undo, now)


def take_back(connection: Connection, doer: Doer, deed: Deed, *, now: int) -> None:
    """Record that a deed was taken back, or that it can't be any more."""
    _write(connection, doer, _TAKEN_BACK, str(deed.id), now)


def find_newest(connection: Connection, doer: Doer) -> Deed | None:
    """Return the newest deed in a chat that still stands."""
    rows = connection.execute(
        "SELECT id, action, detail, created_at FROM audit WHERE person_id = :owner_id"
        " AND actor = :actor AND action IN (:done, :taken) ORDER BY id DESC LIMIT :most",
        {
            "owner_id": doer.owner_id,
            "actor": doer.actor,
            "done": _DONE,
            "taken": _TAKEN_BACK,
            "most": _MOST,
        },
    ).fetchall()
    gone = {detail for _, action, detail, _ in rows if action == _TAKEN_BACK}
    return next(
        (
            Deed(id=number, undo=detail, at=at)
            for number, action, detail, at in rows
            if action == _DONE and detail and str(number) not in gone
        ),
        None,
    )


def _write(connection: Connection, doer: Doer, action: str, detail: str, now: int) -> None:
    entry = AuditEntry(
        person_id=doer.owner_id, actor=doer.actor, action=action, detail=detail, created_at=now
    )
    audit.record(connection, entry)
