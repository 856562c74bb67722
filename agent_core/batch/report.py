"""The report of a run: counts, costs and tool statistics. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Any

from agent_core.batch.records import Attempt, TaskRecord


def make_report(records: Sequence[TaskRecord]) -> dict[str, Any]:
    """Return the report as JSON takes it; `tasks` has a row for each line."""
    attempts = [attempt for one in records for attempt in one.attempts]
    costs = [one.micro_dollars for one in attempts]
    seconds = sorted(one.seconds for one in attempts)
    return {
        "lines": len(records),
        "succeeded": sum(one.state == "done" for one in records),
        "failed": sum(one.state == "dead" and one.task is not None for one in records),
        "waiting": sum(one.state == "owed" for one in records),
        "no_task": sum(one.task is None for one in records),
        "attempts": len(attempts),
        "model_calls": sum(one.calls for one in attempts),
        "input_tokens": sum(one.input_tokens for one in attempts),
        "output_tokens": sum(one.output_tokens for one in attempts),
        "usd": None if None in costs else round(sum(one or 0 for one in costs) / 1e6, 6),
        "seconds_median": round(median(seconds), 2) if seconds else 0.0,
        "seconds_most": round(seconds[-1], 2) if seconds else 0.0,
        "tool_stats": count_tools(attempts),
        "tasks": [_describe(one) for one in records],
    }


def count_tools(attempts: Iterable[Attempt], names: Iterable[str] = ()) -> dict[str, Any]:
    """Return the calls of each tool, those that went well, and those that failed.

    The tools in `names` are there even without a call: tables want the same fields in each row.
    """
    counts = {name: [0, 0] for name in names}
    for attempt in attempts:
        for name, (calls, failed) in attempt.tools.items():
            sums = counts.setdefault(name, [0, 0])
            sums[0] += calls
            sums[1] += failed
    return {
        name: {"count": calls, "success": calls - failed, "failure": failed}
        for name, (calls, failed) in sorted(counts.items())
    }


def _describe(record: TaskRecord) -> Mapping[str, Any]:
    last = record.last
    return {
        "line": record.line,
        "id": record.task.id if record.task else None,
        "state": {"done": "succeeded", "dead": "failed", "owed": "waiting"}[record.state]
        if record.task
        else "no task",
        "fault": record.fault,
        "attempts": len(record.attempts),
        "ending": last.ending if last else "",
        "reason": last.reason if last else "",
        "detail": last.detail if last else "",
        "seconds": last.seconds if last else 0.0,
        "tool_stats": count_tools(record.attempts[-1:]),
    }
