"""The jobs and conversations of OpenClaw: from its databases (2026.9), or from older files."""

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from agent_core.state.lifecycle.foreign_sessions import (
    ForeignSession,
    read_openclaw_events,
    read_openclaw_jobs,
)
from gateway.errors import Mistaken
from gateway.interfaces.cli.imports.found import (
    FoundJob,
    FoundLine,
    note_session,
    read_json,
    read_moment,
    read_text,
)

_NAME = "OpenClaw"
_MINUTE = 60_000
"""Milliseconds."""
_DATABASE, _JOBS = Path("state", "openclaw.sqlite"), Path("cron", "jobs.json")


def read_jobs(folder: Path, left: list[str]) -> Iterator[FoundJob]:
    """Yield people's own jobs; explain in `left` which jobs can't be imported, and why."""
    place, rows = _list_rows(folder)
    for row in rows:
        payload = row.get("payload")
        payload = payload if isinstance(payload, dict) else {}
        kind = payload.get("kind")
        if kind == "heartbeat":
            continue
        title = str(row.get("name") or row.get("id"))
        timing = _read_timing(row.get("schedule"))
        text = str(payload.get("message") or payload.get("text") or "").strip()
        reason = (
            "it runs a command"
            if kind == "command"
            else "it is switched off there"
            if not row.get("enabled", True)
            else "its time is not known"
            if timing is None
            else "it has no task"
            if not text
            else ""
        )
        if reason or timing is None:
            left.append(f"The job {title!r}: {reason}.")
            continue
        # A system event is a text to send, and an agent turn is a task for the assistant.
        what = "message" if kind == "systemEvent" else "prompt"
        yield FoundJob(
            title=title,
            options={"kind": what, "text": text, "title": title, **timing},
            origin=f"{place}, job {row.get('id')}",
        )


def _list_rows(folder: Path) -> tuple[Path, list[dict[str, Any]]]:
    """Return the file that has the jobs, and the jobs. Raises `Mistaken`."""
    database = folder / _DATABASE
    if database.is_file():
        rows = [_parse(text, database) for text in read_openclaw_jobs(database)]
        return _DATABASE, rows
    tree = read_json(folder / _JOBS)
    rows = tree.get("jobs", []) if isinstance(tree, dict) else tree or []
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise Mistaken(f"{folder / _JOBS} holds no list of jobs; nothing was imported.")
    return _JOBS, [row for row in rows if not row.get("declarationKey")]


def _read_timing(schedule: Any) -> dict[str, Any] | None:
    """Return a job's timing as options of Talaria's jobs; None if Talaria has no such timing."""
    if not isinstance(schedule, dict):
        return None
    kind, zone = schedule.get("kind"), schedule.get("tz")
    if kind == "cron" and isinstance(schedule.get("expr"), str):
        return {"cron": schedule["expr"]} | ({"zone": zone} if isinstance(zone, str) else {})
    every = schedule.get("everyMs")
    if kind == "every" and isinstance(every, int) and every >= _MINUTE:
        return {"every_minutes": every // _MINUTE} if every % _MINUTE == 0 else None
    if kind == "at" and isinstance(schedule.get("at"), str):
        return read_moment(schedule["at"])
    return None


def read_conversations(folder: Path, left: list[str]) -> Iterator[FoundLine]:
    """Yield notes for the archive: at least one for each conversation."""
    for database in sorted(folder.glob("agents/*/agent/openclaw-agent.sqlite")):
        found = read_openclaw_events(database)
        packed = sum(text is None for _, text in found)
        if packed:
            left.append(f"{packed} old events of conversations, which OpenClaw has compressed.")
        sessions: dict[str, list[dict[str, Any]]] = {}
        for session, text in found:
            if text is not None:
                sessions.setdefault(session, []).append(_parse(text, database))
        for session, events in sessions.items():
            yield from _note(session, events, database.relative_to(folder))
    for path in sorted(folder.glob("agents/*/sessions/*.jsonl")):
        lines = [line for line in read_text(path).splitlines() if line.strip()]
        events = [_parse(line, path) for line in lines]
        yield from _note(path.stem, events, path.relative_to(folder))


def _note(session: str, events: Iterable[Mapping[str, Any]], file: Path) -> Iterator[FoundLine]:
    said = [(event, *_read_words(event)) for event in events if event.get("type") == "message"]
    messages = tuple((role, text) for _, role, text in said if role and text)
    if messages:
        whole = ForeignSession(
            id=session, title="", started_at=_read_start(said[0][0]), messages=messages
        )
        yield from note_session(whole, _NAME, str(file))


def _read_words(event: Mapping[str, Any]) -> tuple[str, str]:
    """Return the speaker (`user`, `assistant`, or "" for others) and the text without calls."""
    message = event.get("message")
    if not isinstance(message, dict) or message.get("role") not in ("user", "assistant"):
        return "", ""
    content = message.get("content")
    if isinstance(content, list):
        parts = [part for part in content if isinstance(part, dict) and part.get("type") == "text"]
        content = "\n".join(str(part.get("text", "")) for part in parts)
    return str(message["role"]), content.strip() if isinstance(content, str) else ""


def _read_start(event: Mapping[str, Any]) -> float:
    """Return the time of an event in seconds since the epoch; 0 if it has none."""
    try:
        return datetime.fromisoformat(str(event.get("timestamp"))).timestamp()
    except (ValueError, OverflowError):
        return 0.0


def _parse(text: str, path: Path) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Mistaken(f"{path} is not complete JSON; nothing was imported.") from error
    return found if isinstance(found, dict) else {}
