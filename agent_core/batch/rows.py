"""A run as training data: which conversations, and how each is written."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from agent_core.agent.replay.formats import TrajectoryFormat
from agent_core.agent.replay.trajectories import (
    Trajectory,
    read_trajectories,
    render_trajectory,
)
from agent_core.batch.compression import compress
from agent_core.batch.records import Attempt, TaskRecord, list_records
from agent_core.batch.report import count_tools
from agent_core.library.ai_agent import PLATFORM
from agent_core.state.engine.database import Connection
from agent_core.state.people import people

_PLAIN: frozenset[TrajectoryFormat] = frozenset(("openai", "anthropic"))
"""The formats of services, which refuse fields that they don't know."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowFilter:
    """Chooses what is written, by the number of messages and the tools.

    Only successes are written unless `failed_too`.

    `used` are tools that must have been called. With `most_tokens`, longer conversations are
    compressed. 0 means no limit.
    """

    failed_too: bool = False
    least_messages: int = 0
    most_messages: int = 0
    used: tuple[str, ...] = ()
    most_tokens: int = 0


@dataclass(slots=True, kw_only=True)
class RowCounts:
    """Counts the conversations that were written, compressed, and left out, by reason."""

    written: int = 0
    compressed: int = 0
    left_out: dict[str, int] = field(default_factory=dict)

    def leave_out(self, reason: str) -> None:
        """Count a conversation that is not written."""
        self.left_out[reason] = self.left_out.get(reason, 0) + 1


def render_rows(
    connection: Connection, wanted: TrajectoryFormat, chosen: RowFilter, counts: RowCounts
) -> Iterator[str]:
    """Return a line of JSON for each task whose last attempt the filter takes; count the others.

    Raises `StoreDamaged`.
    """
    records = [one for one in list_records(connection) if one.task]
    names = sorted({name for one in records for two in one.attempts for name in two.tools})
    for record in records:
        last = record.last
        found = _read(connection, last) if last and record.state != "owed" else None
        if last is None or found is None:
            counts.leave_out("unanswered" if record.state != "owed" else "waiting")
        elif reason := _find_objection(last, found, chosen):
            counts.leave_out(reason)
        else:
            shown = compress(found, chosen.most_tokens) if chosen.most_tokens else found
            if shown is None:
                counts.leave_out("too long")
                continue
            counts.compressed += shown is not found
            counts.written += 1
            yield _render(shown, wanted, record, names)


def _read(connection: Connection, attempt: Attempt) -> Trajectory | None:
    person = people.find_by_account(connection, platform=PLATFORM, user_id=attempt.person)
    found = read_trajectories(connection, [person], 0) if person else iter(())
    return next(found, None)


def _find_objection(last: Attempt, found: Trajectory, chosen: RowFilter) -> str:
    """Return why a conversation is left out, "" if it is not."""
    count = len(found.messages)
    if not (last.is_success or chosen.failed_too):
        return "failed"
    if count < chosen.least_messages:
        return "too few messages"
    if chosen.most_messages and count > chosen.most_messages:
        return "too many messages"
    return "" if set(chosen.used) <= last.tools.keys() else "without the tools"


def _render(
    trajectory: Trajectory, wanted: TrajectoryFormat, record: TaskRecord, names: Sequence[str]
) -> str:
    line, last = render_trajectory(trajectory, wanted), record.last
    if wanted in _PLAIN or record.task is None or last is None:
        return line
    body: dict[str, Any] = json.loads(line)
    about = {
        "id": record.task.id,
        "completed": last.is_success,
        "reason": last.reason,
        "api_calls": last.calls,
        "tool_stats": count_tools([last], names),
    }
    return json.dumps({**about, **body}, ensure_ascii=False, separators=(",", ":"))
