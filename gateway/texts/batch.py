"""Sentences about batch runs, for the command line."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gateway.texts.general import explain_ending

if TYPE_CHECKING:
    from agent_core.batch.records import TaskRecord
    from agent_core.batch.rows import RowCounts

_MOST_LINES = 20
_BAR = 24
_STOPS: Mapping[str, str] = {
    "asked": "Stopped.",
    "money": "The money of this run is spent.",
    "time": "The time of this run is over.",
    "full": "The run stopped, because {detail}. Free some space.",
    "store": "The run stopped: {detail}.",
    "place": "The place for commands and files is gone, so the run stopped: {detail}.",
    "model": "The model can't answer, so the run stopped: {detail}.",
}
_REASONS: Mapping[str, str] = {
    "check": "The check failed",
    "place": "The place for commands and files was gone",
    "workspace": "The workspace can't be used",
    "broken": "The task broke",
}
_LIMITS: Mapping[str, str] = {
    "steps": "The task made as many model calls as it may (--steps).",
    "tokens": "The task read and wrote as much as it may (turns.max_tokens).",
    "money": "The task spent as much as it may (--task-usd).",
    "time": "The task took as long as it may (--task-seconds).",
}
_LEFT_OUT: Mapping[str, str] = {
    "waiting": "have not run yet",
    "unanswered": "have no answer",
    "failed": "failed; --all takes them, too",
    "too few messages": "have too few messages",
    "too many messages": "have too many messages",
    "without the tools": "did not call these tools",
    "too long": "are longer even without their middle",
}


def describe_faults(faults: Sequence[tuple[int, str]]) -> Iterator[str]:
    """Return a line for each line of the file that is no task, up to a limit."""
    for line, fault in faults[:_MOST_LINES]:
        yield f"Line {line}: {fault}."
    if len(faults) > _MOST_LINES:
        yield f"... and {len(faults) - _MOST_LINES} more lines; the report has all of them."


def draw_progress(records: "Sequence[TaskRecord]", seconds: float) -> str:
    """Return the line that shows how far a run is after some seconds."""
    tasks = [one for one in records if one.task]
    over = sum(one.state != "owed" for one in tasks)
    failed = sum(one.state == "dead" for one in tasks)
    spent = sum(two.micro_dollars or 0 for one in tasks for two in one.attempts) / 1e6
    filled = _BAR * over // max(len(tasks), 1)
    parts = [
        f"[{'#' * filled}{'.' * (_BAR - filled)}] {over:,} of {len(tasks):,}",
        *([f"{failed:,} failed"] if failed else []),
        *([f"${spent:.2f}"] if spent else []),
        f"{seconds // 60:.0f}:{seconds % 60:02.0f}",
    ]
    return ", ".join(parts)


def describe_stop(reason: str, detail: str, left: int) -> str:
    """Say why a run ended before its tasks, and how it goes on."""
    words = _STOPS[reason].format(detail=detail.strip().rstrip("."))
    tasks = "1 task is" if left == 1 else f"{left:,} tasks are"
    return f"{words} {tasks} left; nothing is lost, and the same command goes on."


def describe_report(report: Mapping[str, Any]) -> Iterator[str]:
    """Return the lines of a report."""
    counts = {
        "succeeded": report["succeeded"],
        "failed": report["failed"],
        "waiting": report["waiting"],
        "no task": report["no_task"],
    }
    shown = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)
    lines = "1 line" if report["lines"] == 1 else f"{report['lines']:,} lines"
    yield f"{lines}: {shown or 'nothing'}."
    if report["attempts"]:
        cost = "no known price" if report["usd"] is None else f"${report['usd']:.4f}"
        tries = f"{report['attempts']:,} attempt{'' if report['attempts'] == 1 else 's'}"
        yield (
            f"{tries}, {report['model_calls']:,} model calls,"
            f" {report['input_tokens']:,} tokens read, {report['output_tokens']:,} written, {cost}."
        )
        yield (
            f"A task took {report['seconds_median']} s (median), and {report['seconds_most']} s at"
            " most."
        )
    for name, stats in report["tool_stats"].items():
        calls = f"{stats['count']:,} call{'' if stats['count'] == 1 else 's'}"
        yield f"{name}: {calls}, {stats['failure']:,} failed."
    bad = [one for one in report["tasks"] if one["state"] in ("failed", "no task")]
    for one in bad[:_MOST_LINES]:
        yield f"Line {one['line']}: {explain(one)}"
    if len(bad) > _MOST_LINES:
        yield f"... and {len(bad) - _MOST_LINES:,} more; --json lists all of them."


def explain(task: Mapping[str, Any]) -> str:
    """Say in a sentence why a task failed, or why a line is no task."""
    if task["fault"]:
        return f"{task['fault']}."
    detail = " ".join(str(task["detail"]).split()).rstrip(".")
    if words := _REASONS.get(task["reason"]):
        return f"{words}: {detail}."
    words = _LIMITS.get(task["reason"]) if task["ending"] == "exhausted" else None
    words = words or explain_ending(task["ending"], task["reason"])
    return f"{words} ({detail})" if detail else words


def describe_export(counts: "RowCounts", target: str) -> Iterator[str]:
    """Say what was written, and what was left out."""
    written = "1 conversation" if counts.written == 1 else f"{counts.written:,} conversations"
    short = f", {counts.compressed:,} of them shortened" if counts.compressed else ""
    yield f"Wrote {written} to {target}{short}."
    for reason, count in counts.left_out.items():
        yield f"Left out: {count:,} that {_LEFT_OUT[reason]}."
