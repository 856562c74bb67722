"""Queries over the addresses from untrusted pages that a turn has fetched, counted by site.

A site is stored as a hash, because its name is a stranger's text.
"""

import hashlib
from collections.abc import Mapping

from agent_core.ids import CallId, TurnId
from agent_core.state.engine.database import Connection


def name_site(site: str) -> str:
    """Return the name under which a site is counted."""
    return hashlib.sha256(site.encode("utf-8", "backslashreplace")).hexdigest()


def count_others(
    connection: Connection, *, turn_id: TurnId, caller_id: TurnId, call_id: CallId
) -> dict[str, int]:
    """Count the addresses that other calls of a turn fetched, by the names of their sites.

    `turn_id` is the turn that a person began. `caller_id` is the turn of the call: the same one, or
    that of a helper.
    """
    rows = connection.execute(
        "SELECT site, SUM(number) FROM page_fetches WHERE turn_id = :turn_id"
        " AND NOT (caller_id = :caller_id AND call_id = :call_id) GROUP BY site",
        {"turn_id": turn_id, "caller_id": caller_id, "call_id": call_id},
    ).fetchall()
    return {str(row[0]): int(row[1]) for row in rows}


def note(
    connection: Connection,
    sites: Mapping[str, int],
    *,
    turn_id: TurnId,
    caller_id: TurnId,
    call_id: CallId,
) -> None:
    """Count the addresses of a call, by the names of their sites. A repeat changes nothing."""
    connection.executemany(
        "INSERT INTO page_fetches (turn_id, caller_id, call_id, site, number)"
        " VALUES (:turn_id, :caller_id, :call_id, :site, :number) ON CONFLICT DO NOTHING",
        [
            {
                "turn_id": turn_id,
                "caller_id": caller_id,
                "call_id": call_id,
                "site": site,
                "number": number,
            }
            for site, number in sites.items()
        ],
    )
