"""Queries over what a person did, with the commands that take it back.

Changes of memory, files and skills have histories of their own. Other deeds that `/undo` knows
are rows of the audit trail.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

from agent_core.ids import PersonId
from agent_core.state.engine.database import Connection
from agent_core.state.people import audit
from agent_core.state.people.audit import AuditEntry
from agent_core.transcript import Receipt

FORGOT = "/forget"
"""Names the deed of `/forget`, which nothing takes back, whatever it deleted."""
_DONE, _TAKEN_BACK = "deed", "deed.undone"
_MOST = 100
"""The newest rows that are looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Doer:
    """Names whose deeds these are; `owner_id` is the person, or the group of the chat.

    `platform` is where the person acts: of a chat, or of the console page.
    """

    person_id: PersonId
    owner_id: PersonId
    platform: str

    @property
    def actor(self) -> str:
        """The doer, as the audit trail names them."""
        return f"person:{self.person_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewDeed:
    """A deed, and the command without slash that takes it back.

    Without `undo`, nothing takes it back, or it changed nothing. `redo` does it again. `did` is a
    line that names it; "" for deeds from before 2026-11-30. A deed of several parts, such as five
    deleted reminders, has a line of each for each part, in the order in which they were done.
    """

    undo: str = ""
    redo: str = ""
    did: str = ""

    @property
    def parts(self) -> Sequence[tuple[str, str]]:
        """The command that takes back each part, with the line that names the part."""
        undos = self.undo.split("\n")
        dids = self.did.split("\n") if len(undos) > 1 else [self.did]
        return list(zip(undos, dids, strict=False))


@dataclass(frozen=True, slots=True, kw_only=True)
class Deed(NewDeed):
    """A deed that stands. `at` is in milliseconds since the epoch.

    The `platform` is where it was done; "" for deeds from before 2026-11-30.
    """

    id: int
    platform: str = ""
    at: int


def record(
    connection: Connection,
    doer: Doer,
    deed: NewDeed,
    *,
    pressed: Collection[str] = (),
    now: int,
) -> None:
    """Record a deed in its transaction.

    `pressed` are the spellings of the command of the button that did it, if one did. A button that
    takes back the newest deed does no new one.
    """
    newest = next(iter(list_standing(connection, doer)), None)
    if newest and newest.undo and newest.undo in pressed:
        take_back(connection, doer, newest, redo=deed.undo, now=now)
    else:
        did = "\n".join(line.rstrip(".") for line in deed.did.split("\n"))
        told = {**asdict(deed), "did": did, "platform": doer.platform}
        _write(connection, doer, _DONE, told, now)


def record_receipts(
    connection: Connection, doer: Doer, receipts: Sequence[Receipt], *, now: int
) -> list[tuple[int, int]]:
    """Record what tools did for one wish, as far as a command takes it back.

    What the same command takes back, such as that of reminders, is one deed. Returns the numbers of
    the deeds that have several parts, each with how many.
    """
    kinds: dict[str, list[Receipt]] = {}
    for receipt in receipts:
        if receipt.undo:
            kinds.setdefault(receipt.undo.partition(" ")[0], []).append(receipt)
    several = []
    for parts in kinds.values():
        deed = join_parts(NewDeed(undo=one.undo, did=one.text) for one in parts)
        record(connection, doer, deed, now=now)
        if len(parts) > 1:
            several.append((find_last_id(connection, doer), len(parts)))
    return several


def join_parts(parts: Iterable[NewDeed]) -> NewDeed:
    """Join deeds of one wish to one deed, in the order in which they were done.

    If some can be taken back, the others are no part of it.
    """
    known = list(parts)
    known = [one for one in known if one.undo] or known
    return NewDeed(
        undo="\n".join(one.undo for one in known if one.undo),
        redo="\n".join(one.redo for one in known if one.redo),
        did="\n".join(" ".join(one.did.split()) for one in known),
    )


def name_undo(deed_id: int) -> str:
    """Return the command that takes this deed back, without its slash."""
    return f"undo deed {deed_id}"


def take_back(connection: Connection, doer: Doer, deed: Deed, *, redo: str, now: int) -> None:
    """Record that a deed was taken back; `redo` does it again, and is "" if nothing can."""
    _write(connection, doer, _TAKEN_BACK, {"id": deed.id, "redo": redo}, now)


def leave_out(connection: Connection, doer: Doer, deed: Deed, *, now: int) -> None:
    """Record that a deed can't be taken back any more, so that the next undo leaves it out."""
    _write(connection, doer, _TAKEN_BACK, {"id": deed.id, "redo": "", "kept": True}, now)


def list_standing(connection: Connection, doer: Doer) -> list[Deed]:
    """List the deeds that still stand, newest first, on all platforms."""
    return _list(connection, doer, is_taken=False)


def list_taken_back(connection: Connection, doer: Doer) -> list[Deed]:
    """List the deeds that were taken back, newest first, on all platforms."""
    return _list(connection, doer, is_taken=True)


def _list(connection: Connection, doer: Doer, *, is_taken: bool) -> list[Deed]:
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
    ends = [_read_taken(detail) for _, action, detail, _ in rows if action == _TAKEN_BACK]
    # What was left out does not stand, but nobody took it back.
    ended = {one.id for one in ends}
    taken = {one.id for one in ends if not one.is_kept}
    return [
        Deed(id=number, at=at, **_read_told(detail))
        for number, action, detail, at in rows
        if action == _DONE and detail and (number in taken if is_taken else number not in ended)
    ]


def find_last_id(connection: Connection, doer: Doer) -> int:
    """Return the number of the last deed, or of the last time one was taken back; 0 for none."""
    row = connection.execute(
        "SELECT MAX(id) FROM audit WHERE person_id = :owner_id AND actor = :actor"
        " AND action IN (:done, :taken)",
        {
            "owner_id": doer.owner_id,
            "actor": doer.actor,
            "done": _DONE,
            "taken": _TAKEN_BACK,
        },
    ).fetchone()
    return row[0] or 0


def find_last_moment(connection: Connection, doer: Doer) -> int:
    """Return when the last deed was done or taken back, in milliseconds; 0 for none."""
    row = connection.execute(
        "SELECT created_at FROM audit WHERE id = :id", {"id": find_last_id(connection, doer)}
    ).fetchone()
    return row[0] if row else 0


def find_redo(connection: Connection, doer: Doer, deed_id: int) -> str:
    """Return the command that does a deed again which was taken back; "" if there is none.

    After `bring_back`, there is none.
    """
    rows = connection.execute(
        "SELECT detail FROM audit WHERE person_id = :owner_id AND actor = :actor"
        " AND action = :taken AND id > :deed_id ORDER BY id DESC LIMIT :most",
        {
            "owner_id": doer.owner_id,
            "actor": doer.actor,
            "taken": _TAKEN_BACK,
            "deed_id": deed_id,
            "most": _MOST,
        },
    ).fetchall()
    taken = (_read_taken(detail) for (detail,) in rows)
    return next((one.redo for one in taken if one.id == deed_id), "")


def bring_back(connection: Connection, doer: Doer, deed_id: int, *, now: int) -> None:
    """Record that a deed which was taken back was done again, by the newest deed."""
    _write(connection, doer, _TAKEN_BACK, {"id": deed_id, "redo": ""}, now)


def find_brought(connection: Connection, doer: Doer, deed_id: int) -> Deed | None:
    """Return the deed that did a deed again, if it stands; see `bring_back`."""
    row = connection.execute(
        "SELECT MAX(id) FROM audit WHERE person_id = :owner_id AND actor = :actor"
        " AND action = :done AND id < (SELECT MAX(id) FROM audit"
        "  WHERE person_id = :owner_id AND actor = :actor AND action = :taken AND id > :deed_id"
        "  AND detail LIKE '{%' AND detail ->> 'id' = :deed_id)",
        {
            "owner_id": doer.owner_id,
            "actor": doer.actor,
            "done": _DONE,
            "taken": _TAKEN_BACK,
            "deed_id": deed_id,
        },
    ).fetchone()
    return next((one for one in list_standing(connection, doer) if one.id == row[0]), None)


def drop_words(connection: Connection, *, deed_id: int) -> None:
    """Forget what a deed was, so that nothing takes it back, or what does it again."""
    connection.execute(
        "UPDATE audit SET detail = CASE action WHEN :taken THEN json_set(detail, '$.redo', '')"
        " ELSE '' END WHERE id = :deed_id",
        {"taken": _TAKEN_BACK, "deed_id": deed_id},
    )


def _read_told(detail: str) -> dict[str, str]:
    """Read the detail of a deed; until 2026-11-30, it was the command alone."""
    told: dict[str, str] = json.loads(detail) if detail.startswith("{") else {"undo": detail}
    return told


@dataclass(frozen=True, slots=True, kw_only=True)
class _Taken:
    """The end of a deed: which one it was, and what does it again; see `leave_out`."""

    id: int
    redo: str = ""
    is_kept: bool = False


def _read_taken(detail: str) -> _Taken:
    """Read the detail of the end of a deed; a forgotten row names none."""
    if not detail.startswith("{"):
        return _Taken(id=int(detail or 0))
    told = json.loads(detail)
    return _Taken(id=told["id"], redo=told["redo"], is_kept=told.get("kept", False))


def _write(
    connection: Connection, doer: Doer, action: str, told: Mapping[str, object], now: int
) -> None:
    entry = AuditEntry(
        person_id=doer.owner_id,
        actor=doer.actor,
        action=action,
        detail=json.dumps(told, ensure_ascii=False),
        created_at=now,
    )
    audit.record(connection, entry)
