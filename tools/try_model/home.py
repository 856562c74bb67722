"""The home that every request starts from, and what is in its database afterwards."""

import json
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

OWNER = "owner"
"""The slug of the person who writes."""
PERSON = ("Drinks tea, never coffee.", "Has a brother called Tom.", "Doctor is Dr. Weiss.")
NOTES = ("Plays the cello.", "Lives in Leipzig.")
OLD = "Mrs. Olsen comes on 3 June to repair the washing machine."
JOBS = (
    ("--cron", "0 19 * * 2", "--title", "Bins", "--message", "Put out the bins."),
    ("--at", "{library}", "--title", "Library", "--message", "Return the library books."),
    ("--cron", "0 8 * * *", "--title", "Vitamins", "--message", "Take the vitamins."),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A stored job; `timing` is its stored form, and `next_at` in milliseconds since the epoch."""

    title: str
    body: str
    state: str
    timing: str
    zone: str
    next_at: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """All that a request could have changed."""

    jobs: dict[int, Job]
    memory: tuple[str, ...]
    settings: tuple[Any, ...]


def read_state(home: Path) -> State:
    """Read the state of a home whose gateway has stopped."""
    with closing(sqlite3.connect(home / "state.db")) as connection:
        jobs = {
            row[0]: Job(
                title=row[1],
                body=row[2],
                state=row[3],
                timing=row[4],
                zone=row[5],
                next_at=row[6],
            )
            for row in connection.execute(
                "SELECT id, title, body, state, timing, zone, next_at FROM jobs"
                " WHERE person_id IS NOT NULL"
            )
        }
        settings = connection.execute(
            "SELECT time_zone, language, quiet_from, quiet_until FROM people WHERE slug = ?",
            (OWNER,),
        ).fetchone()
    return State(jobs=jobs, memory=_read_memory(home), settings=settings)


def _read_memory(home: Path) -> tuple[str, ...]:
    folder = home / "memories" / "people" / OWNER
    lines: list[str] = []
    for name in ("USER.md", "MEMORY.md"):
        path = folder / name
        if path.exists():
            lines += [line[2:] for line in path.read_text().splitlines() if line.startswith("- ")]
    return tuple(lines)


def load_requests(path: Path) -> list[dict[str, Any]]:
    """Load requests, one JSON object a line."""
    return [json.loads(line) for line in path.read_text().splitlines() if line.strip()]
