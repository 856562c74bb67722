"""Queries over job runs: one row per slot, so that each slot starts only one run."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from agent_core.ids import InboxId, JobId, RunId, TurnId
from agent_core.state.engine.database import Connection

RunState = Literal["waiting", "running", "done", "failed", "skipped"]
RUN_STATES = get_args(RunState)

MISSED, MERGED = "missed", "merged"
"""Reasons of skipped runs: the gateway was off at the slot's time, or a newer run replaced it."""
GATED = "the gate was closed"
"""The reason of a run whose gate stopped it before it called the model."""
EVENT = "on:"
"""The prefix of slots that were claimed by events."""
ACKNOWLEDGED, PUT_OFF, SKIPPED_NEXT = "acknowledged", "put off", "skipped the next"
"""What a person answered to the reminder of a run: done, later, or not the next time."""
UNWANTED = "skipped on request"
"""The reason of a slot that a person skipped before it was due."""
CROWDED = "too many events in an hour"
"""The reason of skipped runs whose job was started too often."""
_IS_OPEN = "state IN ('waiting', 'running')"
"""The condition of a partial index; SQLite uses the index only if a query repeats it verbatim."""
_IS_ALONE = f"job_id NOT IN (SELECT job_id FROM job_runs WHERE {_IS_OPEN} AND state = 'running')"
"""Excludes jobs with a running run, so that each run sees the cost and result of earlier runs."""
_COLUMNS = (
    "id, job_id, slot, slot_at, due_at, state, missed, attempts, reason, started_at, ended_at,"
    " input"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A slot of a job and the state of its run; times are in milliseconds.

    `slot_at` is the time of the slot, `due_at` the time to start or retry the run. `missed` counts
    the slots that were skipped before it. `input` describes the event that started the run: a short
    line, then the details. It is "" for a slot in time, and after the run has ended.
    """

    id: RunId
    job_id: JobId
    slot: str
    slot_at: int
    due_at: int
    state: RunState
    missed: int
    attempts: int
    reason: str
    started_at: int | None
    ended_at: int | None
    input: str = ""
    is_whole: bool = True
    """False if the row is damaged; then only its owner is reliable."""

    @property
    def is_event(self) -> bool:
        """True if an event started the run."""
        return self.slot.startswith(EVENT)


def claim(
    connection: Connection,
    *,
    job_id: JobId,
    slot: tuple[str, int],
    due_at: int,
    missed: int = 0,
    now: int,
) -> RunId | None:
    """Claim a slot; None if it is already claimed."""
    row = connection.execute(
        "INSERT INTO job_runs (job_id, slot, slot_at, due_at, state, missed)"
        " VALUES (:job_id, :slot, :slot_at, :due_at, 'waiting', :missed)"
        " ON CONFLICT (job_id, slot) DO NOTHING RETURNING id",
        {"job_id": job_id, "slot": slot[0], "slot_at": slot[1], "due_at": due_at, "missed": missed},
    ).fetchone()
    return RunId(row[0]) if row else _reclaim(connection, job_id, slot[0], "waiting", now)


def claim_event(
    connection: Connection, *, job_id: JobId, key: str, text: str, now: int
) -> RunId | None:
    """Claim the run that an event starts; None if the event has already started the job.

    `key` names the event, and `text` describes it to the run.
    """
    row = connection.execute(
        "INSERT INTO job_runs (job_id, slot, slot_at, due_at, state, input)"
        " VALUES (:job_id, :slot, :now, :now, 'waiting', :text)"
        " ON CONFLICT (job_id, slot) DO NOTHING RETURNING id",
        {"job_id": job_id, "slot": f"{EVENT}{key}", "text": text, "now": now},
    ).fetchone()
    return RunId(row[0]) if row else None


def message_key(inbox_id: InboxId) -> str:
    """Return the key of a message as an event."""
    return f"message:{inbox_id}"


def _reclaim(
    connection: Connection, job_id: JobId, slot: str, state: RunState, now: int
) -> RunId | None:
    """Claim a slot that was skipped at a time in the future: the clock was set back since."""
    ended_at = now if state == "done" else None
    row = connection.execute(
        "UPDATE job_runs SET state = :state, reason = '', ended_at = :ended_at"
        " WHERE job_id = :job_id AND slot = :slot AND state = 'skipped' AND reason = :missed"
        " AND ended_at > :now RETURNING id",
        {
            "state": state,
            "ended_at": ended_at,
            "job_id": job_id,
            "slot": slot,
            "missed": MISSED,
            "now": now,
        },
    ).fetchone()
    return RunId(row[0]) if row else None


def claim_finished(
    connection: Connection, *, job_id: JobId, slot: tuple[str, int], missed: int, now: int
) -> Run | None:
    """Claim a slot whose run finishes in the same transaction; None if it is already claimed."""
    cursor = connection.execute(
        "INSERT INTO job_runs (job_id, slot, slot_at, due_at, state, missed, attempts, started_at,"
        " ended_at) VALUES (:job_id, :slot, :slot_at, :slot_at, 'done', :missed, 1, :now, :now)"
        " ON CONFLICT (job_id, slot) DO NOTHING",  # RETURNING would take twice as long
        {"job_id": job_id, "slot": slot[0], "slot_at": slot[1], "missed": missed, "now": now},
    )
    claimed: RunId | None = RunId(cursor.lastrowid or 0)
    if not cursor.rowcount:
        claimed = _reclaim(connection, job_id, slot[0], "done", now)
    if not claimed:
        return None
    return Run(
        id=claimed,
        job_id=job_id,
        slot=slot[0],
        slot_at=slot[1],
        due_at=slot[1],
        state="done",
        missed=missed,
        attempts=1,
        reason="",
        started_at=now,
        ended_at=now,
    )


def skip(
    connection: Connection,
    *,
    job_id: JobId,
    slots: Sequence[tuple[str, int]],
    now: int,
    reason: str = MISSED,
) -> int:
    """Record skipped slots, each in its own row; return how many were not claimed before."""
    if not slots:
        return 0
    cursor = connection.executemany(
        "INSERT INTO job_runs (job_id, slot, slot_at, due_at, state, reason, ended_at)"
        " VALUES (:job_id, :slot, :slot_at, :slot_at, 'skipped', :reason, :now)"
        " ON CONFLICT (job_id, slot) DO NOTHING",
        [
            {"job_id": job_id, "slot": slot, "slot_at": at, "reason": reason, "now": now}
            for slot, at in slots
        ],
    )
    return cursor.rowcount


def is_unwanted(connection: Connection, *, job_id: JobId, slot: str) -> bool:
    """Return whether a person skipped a slot before it was due."""
    row = connection.execute(
        "SELECT 1 FROM job_runs WHERE job_id = :job_id AND slot = :slot AND reason = :reason",
        {"job_id": job_id, "slot": slot, "reason": UNWANTED},
    ).fetchone()
    return row is not None


def find_unwanted(connection: Connection, *, job_id: JobId) -> tuple[str, int] | None:
    """Return the slot that a person skipped last before it was due, and its time."""
    row = connection.execute(
        "SELECT slot, slot_at FROM job_runs WHERE job_id = :job_id AND reason = :reason"
        " ORDER BY id DESC LIMIT 1",
        {"job_id": job_id, "reason": UNWANTED},
    ).fetchone()
    return (row[0], row[1]) if row else None


def want_again(connection: Connection, *, job_id: JobId, slot: str) -> None:
    """Let a slot that a person skipped be claimed when it is due."""
    connection.execute(
        "DELETE FROM job_runs WHERE job_id = :job_id AND slot = :slot AND reason = :reason",
        {"job_id": job_id, "slot": slot, "reason": UNWANTED},
    )


def answer(connection: Connection, *, run_id: RunId, reason: str, known: str) -> bool:
    """Record what a person answered to a reminder; False if its answer is not the `known` one."""
    row = connection.execute(
        "UPDATE job_runs SET reason = :reason WHERE id = :run_id AND state = 'done'"
        " AND reason = :known RETURNING id",
        {"run_id": run_id, "reason": reason, "known": known},
    ).fetchone()
    return row is not None


def list_newer(connection: Connection, *, run: Run, now: int) -> list[Run]:
    """List the due runs of the same job that are newer than a run and have not been attempted."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM job_runs WHERE {_IS_OPEN} AND state = 'waiting'"
        " AND job_id = :job_id AND id > :run_id AND due_at <= :now AND attempts = 0 ORDER BY id",
        {"job_id": run.job_id, "run_id": run.id, "now": now},
    ).fetchall()
    return [_run(row) for row in rows]


def merge(connection: Connection, *, run: Run, into: RunId, now: int) -> None:
    """Skip a run in favour of a newer one, which counts it as missed."""
    connection.execute(
        "UPDATE job_runs SET missed = missed + 1 + :missed WHERE id = :into",
        {"missed": run.missed, "into": into},
    )
    end(connection, run_id=run.id, state="skipped", now=now, reason=MERGED)


def list_due_times(connection: Connection, *, run: Run) -> list[int]:
    """List the due times that a run stands for, in milliseconds: missed slots, and its own slot."""
    rows = connection.execute(
        "SELECT slot_at FROM job_runs WHERE job_id = :job_id AND id < :run_id"
        " AND state = 'skipped' AND reason IN (:missed, :merged) ORDER BY id DESC LIMIT :count",
        {
            "job_id": run.job_id,
            "run_id": run.id,
            "missed": MISSED,
            "merged": MERGED,
            "count": run.missed,
        },
    ).fetchall()
    return [*(int(row[0]) for row in reversed(rows)), run.slot_at]


def list_waiting(connection: Connection, *, now: int, limit: int) -> list[Run]:
    """List the runs that are due, longest due first, except of jobs with a running run."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM job_runs WHERE {_IS_OPEN} AND state = 'waiting'"
        f" AND due_at <= :now AND {_IS_ALONE} ORDER BY due_at, id LIMIT :limit",
        {"now": now, "limit": limit},
    ).fetchall()
    return [_run(row) for row in rows]


def list_running(connection: Connection) -> list[Run]:
    """List the runs that have started and not ended."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM job_runs WHERE {_IS_OPEN} AND state = 'running' ORDER BY due_at"
    ).fetchall()
    return [_run(row) for row in rows]


def drop_message_event(connection: Connection, *, inbox_id: InboxId) -> None:
    """Clear a forgotten message from the input of open runs."""
    connection.execute(
        f"UPDATE job_runs SET input = '' WHERE {_IS_OPEN} AND slot = :slot",
        {"slot": f"{EVENT}{message_key(inbox_id)}"},
    )


def count_events(connection: Connection, *, job_id: JobId, since: int, until: int) -> int:
    """Count the runs of a job that events started between two moments, without skipped ones."""
    row = connection.execute(
        "SELECT COUNT(*) FROM job_runs WHERE job_id = :job_id"
        " AND slot_at BETWEEN :since AND :until"
        " AND slot GLOB :events AND state != 'skipped'",
        {"job_id": job_id, "since": since, "until": until, "events": f"{EVENT}*"},
    ).fetchone()
    return int(row[0])


def count_outages(connection: Connection) -> int:
    """Count the running runs whose turn waits for a model that does not answer."""
    row = connection.execute(
        "SELECT COUNT(*) FROM turns JOIN job_runs ON job_runs.id = turns.run_id"
        " WHERE turns.state = 'running' AND turns.waiting_since IS NOT NULL"
        " AND job_runs.state = 'running'"
    ).fetchone()
    return int(row[0])


def find_next_at(connection: Connection) -> int | None:
    """Return the time of the next due run whose job has no running run; None if there is none."""
    row = connection.execute(
        f"SELECT due_at FROM job_runs WHERE {_IS_OPEN} AND state = 'waiting' AND {_IS_ALONE}"
        " ORDER BY due_at LIMIT 1"
    ).fetchone()
    return row[0] if row and isinstance(row[0], int) else None  # damaged rows come last


def find(connection: Connection, *, run_id: RunId) -> Run | None:
    """Return one run."""
    row = connection.execute(
        f"SELECT {_COLUMNS} FROM job_runs WHERE id = :run_id", {"run_id": run_id}
    ).fetchone()
    return _run(row) if row else None


def list_of_job(connection: Connection, *, job_id: JobId, limit: int) -> list[Run]:
    """List the newest runs of a job, newest first."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM job_runs WHERE job_id = :job_id ORDER BY id DESC LIMIT :limit",
        {"job_id": job_id, "limit": limit},
    ).fetchall()
    return [_run(row) for row in rows]


def begin(connection: Connection, *, run_id: RunId, now: int) -> bool:
    """Start a run, or retry it; False if it is not waiting."""
    row = connection.execute(
        "UPDATE job_runs SET state = 'running', attempts = attempts + 1, started_at = :now"
        " WHERE id = :run_id AND state = 'waiting' RETURNING id",
        {"run_id": run_id, "now": now},
    ).fetchone()
    return row is not None


def end(
    connection: Connection, *, run_id: RunId, state: RunState, now: int, reason: str = ""
) -> bool:
    """End a run and delete its event text; False if it had already ended."""
    row = connection.execute(
        "UPDATE job_runs SET state = :state, reason = :reason, ended_at = :now, input = ''"
        f" WHERE id = :run_id AND {_IS_OPEN} RETURNING id",
        {"run_id": run_id, "state": state, "reason": reason, "now": now},
    ).fetchone()
    return row is not None


def postpone(connection: Connection, *, run_id: RunId, due_at: int, reason: str) -> None:
    """Let a failed run wait for its retry."""
    connection.execute(
        "UPDATE job_runs SET state = 'waiting', due_at = :due_at, reason = :reason"
        f" WHERE id = :run_id AND {_IS_OPEN}",
        {"run_id": run_id, "due_at": due_at, "reason": reason},
    )


def expedite(connection: Connection, *, after: int, at: int) -> None:
    """Move start times of waiting runs that are later than `after` to `at`."""
    connection.execute(
        f"UPDATE job_runs SET due_at = :at WHERE {_IS_OPEN} AND state = 'waiting'"
        " AND due_at > :after",
        {"after": after, "at": at},
    )


def find_turn(connection: Connection, *, run_id: RunId) -> tuple[TurnId, str] | None:
    """Return the newest turn of a run and its state."""
    row = connection.execute(
        "SELECT id, state FROM turns WHERE run_id = :run_id ORDER BY id DESC LIMIT 1",
        {"run_id": run_id},
    ).fetchone()
    return (TurnId(row[0]), row[1]) if row else None


def attach(connection: Connection, *, run_id: RunId, turn_id: TurnId) -> bool:
    """Attach a turn to a run; False if the run has ended, or was deleted with its job."""
    row = connection.execute(
        "UPDATE turns SET run_id = :run_id WHERE id = :turn_id AND EXISTS (SELECT 1 FROM job_runs"
        " WHERE job_runs.id = :run_id AND job_runs.state = 'running') RETURNING id",
        {"run_id": run_id, "turn_id": turn_id},
    ).fetchone()
    return row is not None


def find_of_turn(connection: Connection, *, turn_id: TurnId) -> RunId | None:
    """Return the run of a turn, if it has one."""
    row = connection.execute(
        "SELECT run_id FROM turns WHERE id = :turn_id", {"turn_id": turn_id}
    ).fetchone()
    return RunId(row[0]) if row and row[0] is not None else None


_NAMES = tuple(_COLUMNS.split(", "))
_NUMBERS = ("slot_at", "due_at", "missed", "attempts")
_MOMENTS = ("started_at", "ended_at")
_MOMENT = (int, type(None))
_KINDS: tuple[type | tuple[type, ...], ...] = (
    *(int, int, str, int, int, str, int, int, str),
    *(_MOMENT, _MOMENT, str),
)
"""The types of the columns."""


def _run(row: tuple[object, ...]) -> Run:
    fields = dict(zip(_NAMES, row, strict=True))
    is_whole = fields["state"] in RUN_STATES and all(
        isinstance(value, kind) for value, kind in zip(row, _KINDS, strict=True)
    )
    if not is_whole:
        fields |= {**dict.fromkeys(_NUMBERS, 0), **dict.fromkeys(_MOMENTS)}
        fields |= {"slot": "", "reason": "damaged", "state": "failed", "input": ""}
    return Run(**fields, is_whole=is_whole)  # type: ignore[arg-type]
