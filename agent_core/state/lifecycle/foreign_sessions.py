"""Read conversations and jobs in the databases of other assistants, without changing them."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from agent_core.errors import StoreError


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignSession:
    """A conversation of another assistant, with its messages in order."""

    id: str
    title: str
    started_at: float
    """Seconds since the epoch."""
    messages: tuple[tuple[str, str], ...]
    """Pairs of the author (`user` or `assistant`) and the text."""


def read_hermes_sessions(path: Path) -> list[ForeignSession]:
    """Read the sessions of Hermes Agent that have a message, oldest first. Blocks.

    Raises `StoreError` if the file is not a database of Hermes Agent.
    """
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as found:
            said: dict[str, list[tuple[str, str]]] = {}
            for session, role, content in found.execute(
                "SELECT session_id, role, content FROM messages"
                " WHERE role IN ('user', 'assistant') AND content > '' AND active = 1 ORDER BY id"
            ):
                said.setdefault(session, []).append((role, str(content)))
            rows = found.execute("SELECT id, title, started_at FROM sessions ORDER BY started_at")
            return [
                ForeignSession(
                    id=str(row[0]),
                    title=str(row[1] or ""),
                    started_at=row[2] if isinstance(row[2], int | float) else 0.0,
                    messages=tuple(said[row[0]]),
                )
                for row in rows
                if row[0] in said
            ]
    except sqlite3.Error as error:
        raise StoreError(
            f"{path} is not a database of Hermes Agent, or is damaged;"
            " give the folder of an intact home"
        ) from error


def read_openclaw_jobs(path: Path) -> list[str]:
    """Read the jobs that people made in OpenClaw, each as JSON, in their order. Blocks.

    Jobs with a declaration key belong to OpenClaw itself and are left out. Raises `StoreError` if
    the file is not a database of OpenClaw.
    """
    rows = _ask_openclaw(
        path, "SELECT job_json FROM cron_jobs WHERE declaration_key IS NULL ORDER BY sort_order"
    )
    return [str(row[0]) for row in rows]


def read_openclaw_events(path: Path) -> list[tuple[str, str | None]]:
    """Read the transcript events of an agent of OpenClaw, as (session, JSON). Blocks.

    The JSON is None for a compressed event. Raises `StoreError` if the file is not a database of
    OpenClaw.
    """
    rows = _ask_openclaw(
        path, "SELECT session_id, event_json FROM transcript_events ORDER BY session_id, seq"
    )
    return [(str(row[0]), row[1]) for row in rows]


def _ask_openclaw(path: Path, statement: str) -> Sequence[tuple[str, str | None]]:
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as found:
            return found.execute(statement).fetchall()
    except sqlite3.Error as error:
        raise StoreError(f"{path} is not a database of OpenClaw, or it is damaged") from error
