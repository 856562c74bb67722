"""Queries over scheduled jobs: their schedule, owner, content and targets."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from dataclasses import fields as dataclass_fields
from functools import lru_cache
from typing import Any, Literal

from agent_core.chats import Chat
from agent_core.ids import JobId, PersonId, RoomId, TurnId
from agent_core.state.engine.connection import checksum, list_fields
from agent_core.state.engine.database import Connection
from agent_core.state.jobs.missed_slots import Late
from agent_core.tool_names import renew_names

JobKind = Literal["prompt", "message", "script", "system"]
"""The kinds: a turn of the agent, a fixed text, a command's output, or a system job."""
JobState = Literal["active", "paused", "over", "dropped"]
TargetKind = Literal["home", "place", "account"]

DAMAGED = "(damaged)"
"""The title of a job whose row is damaged."""
_HASHED = 8
"""The number of columns in the checksum; all of them are text."""
_NEVER = "once 1970-01-01T00:00"


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A target of a job: the person's home, one chat, or their direct chat on a platform."""

    kind: TargetKind
    platform: str = ""
    chat: str = ""

    @staticmethod
    def of(chat: Chat) -> "Target":
        """Return the target that is one chat."""
        return Target(kind="place", platform=chat.platform, chat=chat.address)

    @property
    def place(self) -> Chat:
        """The chat of a target that is one."""
        return Chat(platform=self.platform, address=self.chat)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Options of a job's runs. Empty and 0 mean the deployment's defaults.

    With `is_aware`, a run sees the runs before it. `tools` limits the tools; empty allows all.
    `day_micro_dollars` limits the cost of the job's runs per day, in its time zone. After
    `pause_after` failures in a row, the job is paused.

    A `gate` is checked before each run. `gate_passed` is the newest run that the gate let pass.
    `gate_seen` is the state that the last finished run saw, and `gate_next` the state that the
    passed run sees.
    """

    is_aware: bool = False
    model: str = ""
    tools: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()
    day_micro_dollars: int = 0
    pause_after: int = 3
    gate: str = ""
    gate_passed: int = 0
    gate_seen: str = ""
    gate_next: str = ""
    agent: str = ""
    """The named agent that runs the job, "" for the assistant itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewJob:
    """A job to create. `next_slot` is the slot that it waits for, with the slot's time."""

    person_id: PersonId | None
    room_id: RoomId | None
    kind: JobKind
    title: str
    body: str
    timing: str
    zone: str
    late: Late
    options: Options
    targets: tuple[Target, ...]
    is_urgent: bool
    next_slot: tuple[str, int] | None
    actor: str
    call_key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Job(NewJob):
    """A stored job. `failures` counts the failures in a row; `reason` says why the job is paused.

    A damaged job has no text, times or targets, and can only be dropped.
    """

    id: JobId
    state: JobState
    reason: str
    failures: int
    created_at: int
    is_whole: bool = True


_NOTHING = NewJob(
    person_id=None,
    room_id=None,
    kind="message",
    title="",
    body="",
    timing=_NEVER,
    zone="UTC",
    late="skip",
    options=Options(),
    targets=(),
    is_urgent=False,
    next_slot=None,
    actor="",
)
"""The content of a redacted job. A damaged job has this content, too, but keeps its owner."""

COLUMNS = (
    "id, person_id, room_id, kind, title, body, timing, zone, late, options, targets, is_urgent,"
    " state, reason, failures, next_slot, next_at, actor, call_key, created_at, checksum"
)


def insert(connection: Connection, job: NewJob, *, now: int) -> Job:
    """Create an active job."""
    row = connection.execute(
        "INSERT INTO jobs (person_id, room_id, kind, title, body, timing, zone, late, options,"
        " targets, is_urgent, state, next_slot, next_at, actor, call_key, created_at, checksum)"
        " VALUES (:person_id, :room_id, :kind, :title, :body, :timing, :zone, :late, :options,"
        " :targets, :is_urgent, 'active', :next_slot, :next_at, :actor, :call_key, :now,"
        f" :checksum) RETURNING {COLUMNS}",
        {**_columns_of(job), "now": now},
    ).fetchone()
    return read_row(row)


def change(connection: Connection, job: Job) -> None:
    """Store the present text, times, targets, state and failures of a job.

    Of a damaged job, store only the state and the failures, so that it still shows as damaged.
    """
    if not job.is_whole:
        _change_state(connection, job)
        return
    connection.execute(
        "UPDATE jobs SET title = :title, body = :body, timing = :timing, zone = :zone,"
        " late = :late, options = :options, targets = :targets, is_urgent = :is_urgent,"
        " state = :state, reason = :reason, failures = :failures, next_slot = :next_slot,"
        " next_at = :next_at, checksum = :checksum WHERE id = :id",
        _columns_of(job),
    )


def _change_state(connection: Connection, job: Job) -> None:
    connection.execute(
        "UPDATE jobs SET state = :state, reason = :reason, failures = :failures,"
        " next_slot = :next_slot, next_at = :next_at WHERE id = :id",
        {**list_fields(job), **_slot_fields(job.next_slot)},
    )


def await_slot(
    connection: Connection, *, job_id: JobId, slot: tuple[str, int] | None, is_over: bool
) -> None:
    """Set the slot that a job waits for; a job that `is_over` has no slot left."""
    connection.execute(
        "UPDATE jobs SET next_slot = :next_slot, next_at = :next_at,"
        " state = CASE WHEN :is_over = 1 AND state = 'active' THEN 'over' ELSE state END"
        " WHERE id = :id",
        {"id": job_id, "is_over": int(is_over), **_slot_fields(slot)},
    )


def redact(connection: Connection, *, job_id: JobId) -> None:
    """Delete a job and its runs.

    The newest of all jobs and the newest of all runs keep their rows, without content. Events,
    buttons and running work refer to their ids, so SQLite must not assign these ids again.
    """
    values = {"job_id": job_id}
    connection.execute(
        "UPDATE turns SET run_id = NULL WHERE run_id IN"
        " (SELECT id FROM job_runs WHERE job_id = :job_id)",
        values,
    )
    for table in ("job_marks", "job_versions"):
        connection.execute(f"DELETE FROM {table} WHERE job_id = :job_id", values)
    connection.execute(
        "DELETE FROM job_runs WHERE job_id = :job_id AND id < (SELECT MAX(id) FROM job_runs)",
        values,
    )
    connection.execute(
        "UPDATE job_runs SET slot = '', slot_at = 0, due_at = 0, state = 'skipped', missed = 0,"
        " attempts = 0, reason = '', started_at = NULL, ended_at = 0, input = ''"
        " WHERE job_id = :job_id",
        values,
    )
    connection.execute(
        "DELETE FROM jobs WHERE id = :job_id AND id < (SELECT MAX(id) FROM jobs)"
        " AND NOT EXISTS (SELECT 1 FROM job_runs WHERE job_runs.job_id = :job_id)",
        values,
    )
    connection.execute(
        "UPDATE jobs SET person_id = NULL, room_id = NULL, kind = :kind, title = :title,"
        " body = :body, timing = :timing, zone = :zone, late = :late, options = :options,"
        " targets = :targets, is_urgent = :is_urgent, state = 'dropped', reason = '', failures = 0,"
        " next_slot = :next_slot, next_at = :next_at, actor = '', call_key = NULL, created_at = 0,"
        " checksum = :checksum WHERE id = :job_id",
        {**values, **_columns_of(_NOTHING)},
    )


def find(connection: Connection, *, job_id: JobId) -> Job | None:
    """Return a job of any owner; the caller checks who asks."""
    row = connection.execute(
        f"SELECT {COLUMNS} FROM jobs WHERE id = :job_id", {"job_id": job_id}
    ).fetchone()
    return read_row(row) if row else None


def find_call(connection: Connection, *, person_id: PersonId, call_key: str) -> Job | None:
    """Return the job that an earlier attempt of a tool call created, if any."""
    row = connection.execute(
        f"SELECT {COLUMNS} FROM jobs WHERE call_key = :call_key AND person_id = :person_id",
        {"call_key": call_key, "person_id": person_id},
    ).fetchone()
    return read_row(row) if row else None


_SOONEST = "ORDER BY state <> 'active', next_at IS NULL, next_at, id"
"""The order of lists for people; what waits for no moment comes last."""


def find_of_turn(connection: Connection, *, turn_id: TurnId) -> Job | None:
    """Return the job whose run a turn is."""
    row = connection.execute(
        "SELECT job_runs.job_id FROM turns JOIN job_runs ON job_runs.id = turns.run_id"
        " WHERE turns.id = :turn_id",
        {"turn_id": turn_id},
    ).fetchone()
    return find(connection, job_id=JobId(row[0])) if row else None


def list_of_person(connection: Connection, *, person_id: PersonId) -> list[Job]:
    """List the unfinished jobs of a person, the next one first."""
    rows = connection.execute(
        f"SELECT {COLUMNS} FROM jobs WHERE person_id = :person_id"
        f" AND state IN ('active', 'paused') {_SOONEST}",
        {"person_id": person_id},
    ).fetchall()
    return [read_row(row) for row in rows]


def list_of_room(connection: Connection, *, room_id: RoomId) -> list[Job]:
    """List the unfinished jobs of a room, the next one first."""
    rows = connection.execute(
        f"SELECT {COLUMNS} FROM jobs WHERE room_id = :room_id"
        f" AND state IN ('active', 'paused') {_SOONEST}",
        {"room_id": room_id},
    ).fetchall()
    return [read_row(row) for row in rows]


def move_targets(connection: Connection, *, platform: str, starts: tuple[str, str]) -> None:
    """Move the targets in a chat, or in its threads, to the chat that took its place.

    `starts` are the beginnings of their stored addresses, the old one and the new one.
    """
    old, new = starts
    rows = connection.execute(
        f"SELECT {COLUMNS} FROM jobs WHERE INSTR(targets, :old) > 0", {"old": json.dumps(old)[1:-1]}
    ).fetchall()
    for job in map(read_row, rows):
        targets = tuple(
            replace(one, chat=new + one.chat.removeprefix(old))
            if one.platform == platform and one.chat.startswith(old)
            else one
            for one in job.targets
        )
        if targets != job.targets:
            columns = _columns_of(replace(job, targets=targets))
            connection.execute(
                "UPDATE jobs SET targets = :targets, checksum = :checksum WHERE id = :id",
                {"targets": columns["targets"], "checksum": columns["checksum"], "id": job.id},
            )


def list_system(connection: Connection) -> list[Job]:
    """List the system jobs."""
    rows = connection.execute(
        f"SELECT {COLUMNS} FROM jobs WHERE kind = 'system' ORDER BY body"
    ).fetchall()
    return [read_row(row) for row in rows]


def _columns_of(job: NewJob) -> dict[str, Any]:
    """Return the stored columns of a job by name."""
    options, targets = _dump_options(job.options), _dump_targets(job.targets)
    return {
        **list_fields(job),
        "options": options,
        "targets": targets,
        "is_urgent": int(job.is_urgent),
        **_slot_fields(job.next_slot),
        "checksum": _checksum(job, options, targets),
    }


def _slot_fields(slot: tuple[str, int] | None) -> dict[str, str | int | None]:
    name, at = slot or (None, None)
    return {"next_slot": name, "next_at": at}


_NAMES = tuple(name.strip() for name in COLUMNS.split(","))


def read_row(row: Sequence[object]) -> Job:
    """Build a job from the columns of its row."""
    fields = dict(zip(_NAMES, row, strict=True))
    expected = fields.pop("checksum")
    name, at = fields.pop("next_slot"), fields.pop("next_at")
    slot = (name, at) if isinstance(name, str) and isinstance(at, int) else None
    options, targets = fields["options"], fields["targets"]
    hashed = [fields[key] for key in ("kind", "title", "body", "timing", "zone", "late")]
    words = [word for word in (*hashed, options, targets) if isinstance(word, str)]
    is_whole = len(words) == _HASHED and checksum(*words) == expected
    if not is_whole or (slot is None and at is not None):
        return _blank(fields)
    fields["options"] = _load_options(str(options))
    fields["targets"] = _load_targets(str(targets))
    fields["is_urgent"] = bool(fields["is_urgent"])
    return Job(**fields, next_slot=slot)  # type: ignore[arg-type]


def _blank(fields: dict[str, object]) -> Job:
    """Return the content of a damaged row; only its owner and its state are kept."""
    kept = ("id", "person_id", "room_id", "state", "reason", "failures", "actor", "call_key")
    left = {one.name: getattr(_NOTHING, one.name) for one in dataclass_fields(NewJob)}
    left |= {key: fields[key] for key in (*kept, "created_at")}
    return Job(**left | {"title": DAMAGED, "is_whole": False})


def _dump_options(options: Options) -> str:
    return json.dumps(asdict(options), separators=(",", ":"), ensure_ascii=False)


@lru_cache(maxsize=1024)
def _load_options(text: str) -> Options:
    fields = json.loads(text)
    fields["tools"], fields["skills"] = renew_names(fields["tools"]), tuple(fields["skills"])
    return Options(**fields)


@lru_cache(maxsize=1024)
def _load_targets(text: str) -> tuple[Target, ...]:
    return tuple(Target(**target) for target in json.loads(text))


def _dump_targets(targets: Sequence[Target]) -> str:
    found = [asdict(target) for target in targets]
    return json.dumps(found, separators=(",", ":"), ensure_ascii=False)


def _checksum(job: NewJob, options: str, targets: str) -> int:
    return checksum(job.kind, job.title, job.body, job.timing, job.zone, job.late, options, targets)
