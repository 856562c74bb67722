"""Reads the home of Hermes Agent (0.19, `~/.hermes`) in the format of its own program."""

from collections.abc import Iterator, Mapping
from io import StringIO
from pathlib import Path
from typing import Any

from dotenv import dotenv_values

from agent_core.state.lifecycle.foreign_sessions import ForeignSession, read_hermes_sessions
from gateway.errors import Mistaken
from gateway.interfaces.cli.imports.found import (
    FOREIGN_PLACES,
    LISTS,
    FoundHome,
    FoundJob,
    FoundLine,
    note_session,
    read_json,
    read_moment,
    read_text,
)

_DELIMITER = "\n§\n"
_OWN_SOUL = "You are Hermes Agent"
"""The beginning of the SOUL.md that Hermes itself writes."""
_BUNDLED = ".bundled_manifest"
"""The file that lists the skills that come with Hermes, as `name:hash`."""
_FEWEST = 2
"""A folder with at least this many typical files or folders counts as a home of Hermes."""


def read_hermes(folder: Path) -> FoundHome:
    """Read everything. Raises `Mistaken` if it is no home of Hermes, or if a file is broken."""
    signs = ("state.db", "memories", "config.yaml", "cron", "SOUL.md")
    is_own = (folder / "state.lock").exists()  # a home of Talaria has files of the same names
    if is_own or sum((folder / sign).exists() for sign in signs) < _FEWEST:
        raise Mistaken(f"{folder} is not a home of Hermes Agent; it is usually ~/.hermes.")
    left: list[str] = []
    lines = [*_read_memory(folder), *_read_soul(folder, left)]
    for session in _read_sessions(folder):
        lines += note_session(session, "Hermes Agent", "state.db")
    return FoundHome(
        name="Hermes Agent",
        lines=lines,
        jobs=list(_read_jobs(folder, left)),
        skills=_list_skills(folder / "skills"),
        tokens={
            name: value
            for name, value in dotenv_values(stream=StringIO(read_text(folder / ".env"))).items()
            if name in FOREIGN_PLACES and value
        },
        left=left,
    )


def _read_memory(folder: Path) -> Iterator[FoundLine]:
    for target, name in LISTS:
        entries = read_text(folder / "memories" / name).split(_DELIMITER)
        for number, entry in enumerate(entries, 1):
            if entry.strip():
                origin = f"memories/{name}, entry {number}"
                yield FoundLine(target=target, text=entry.strip(), origin=origin)


def _read_soul(folder: Path, left: list[str]) -> Iterator[FoundLine]:
    text = read_text(folder / "SOUL.md").strip()
    if text.startswith(_OWN_SOUL):
        left.append("SOUL.md is the text that Hermes brings, so yours stays.")
    elif text:
        yield FoundLine(target="soul", text=text + "\n", origin="SOUL.md")


def _read_sessions(folder: Path) -> list[ForeignSession]:
    path = folder / "state.db"
    return read_hermes_sessions(path) if path.is_file() else []


def _read_jobs(folder: Path, left: list[str]) -> Iterator[FoundJob]:
    path = folder / "cron" / "jobs.json"
    tree = read_json(path)
    rows = tree.get("jobs", []) if isinstance(tree, dict) else tree or []
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise Mistaken(f"{path} holds no list of jobs; nothing was imported.")
    for row in rows:
        title = str(row.get("name") or row.get("id"))
        timing = _read_timing(row)
        reason = (
            "it runs a script"
            if row.get("script")
            else "it is paused there"
            if not row.get("enabled", True)
            else "its time is not known"
            if timing is None
            else "it has no task"
            if not str(row.get("prompt") or "").strip()
            else ""
        )
        if reason or timing is None:
            left.append(f"The job {title!r}: {reason}.")
            continue
        options = {"kind": "prompt", "text": str(row["prompt"]), "title": title, **timing}
        yield FoundJob(title=title, options=options, origin=f"cron/jobs.json, job {row.get('id')}")


def _read_timing(row: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return a job's timing as options of Talaria's jobs; None if Talaria has no such timing."""
    schedule = row.get("schedule")
    if not isinstance(schedule, dict):
        return None
    if schedule.get("kind") == "cron" and isinstance(schedule.get("expr"), str):
        return {"cron": schedule["expr"]}
    if schedule.get("kind") == "interval" and isinstance(schedule.get("minutes"), int):
        return {"every_minutes": schedule["minutes"]}
    if schedule.get("kind") == "once" and isinstance(schedule.get("run_at"), str):
        return read_moment(schedule["run_at"])
    return None


def _list_skills(folder: Path) -> list[Path]:
    """List the folders of skills that did not come with Hermes."""
    bundled = {line.partition(":")[0] for line in read_text(folder / _BUNDLED).splitlines()}
    found = (path.parent for path in folder.rglob("SKILL.md"))
    return sorted(
        path
        for path in found
        if path.name not in bundled
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    )
