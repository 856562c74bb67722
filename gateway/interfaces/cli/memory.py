"""`talaria memory`: shows memory and its changes, and undoes or restores them."""

import argparse
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from gateway.app.config_file import read_zone
from gateway.home import open_home
from gateway.interfaces import client
from gateway.interfaces.client import require_database
from gateway.interfaces.parser import Parser
from gateway.operations.memory_types import (
    ChangeLog,
    ListChanges,
    MemoryChange,
    RestoredMemory,
    RestoreMemory,
    ShowMemory,
    ShownMemory,
    UndoChange,
    UndoneMemory,
)
from gateway.operations.wire import load_known

_SHOWN = 20
_LONGEST = 200
"""Most characters of an entry that a line of the log shows."""
_PATIENCE = 600.0
"""Seconds to wait for an answer; a restore processes one person after the other."""
_DAY = len("2026-11-21")
_FILES = {"memory": "MEMORY.md", "user": "USER.md", "archive": "archive"}


def configure(parser: Parser) -> None:
    """Add `log`, `show`, `undo` and `restore`."""
    parser.examples = ("talaria memory show --person ada", "talaria memory log")
    parser.default_verb = "show"
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    log = verbs.add_parser(
        "log",
        help="list the newest changes with their ledger rows",
        examples=["talaria memory log", "talaria memory log --person ada --limit 50"],
    )
    log.add_argument("--limit", metavar="N", type=int, default=_SHOWN, help="how many")
    show = verbs.add_parser(
        "show",
        help="show memory, now or at a moment (the default)",
        examples=["talaria memory show", "talaria memory show --person ada --at 2026-11-21"],
    )
    undo = verbs.add_parser(
        "undo",
        help="undo one change, and the changes derived from it",
        examples=["talaria memory undo 57"],
    )
    undo.add_argument("row", metavar="ROW", type=int, help="row number from `talaria memory log`")
    restore = verbs.add_parser(
        "restore",
        help="restore memory to a moment",
        examples=["talaria memory restore --person ada --at '2026-11-21 18:30'"],
    )
    for verb in (log, show, restore):
        verb.add_argument("--person", metavar="SLUG", help="one person, room or block, or the team")
    at = "2026-11-21 or '2026-11-21 18:30'; a date alone means the end of that day"
    show.add_argument("--at", metavar="DATE", type=read_date, help=at)
    restore.add_argument("--at", metavar="DATE", type=read_date, required=True, help=at)


def run(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Run the verb in the running gateway or on its database, and print the result."""
    home = open_home(environ)
    zone = read_zone(environ, home)
    given = dict(vars(arguments))
    if moment := given.pop("at", None):
        given["moment"] = count_milliseconds(moment, zone)
    kind, answer, describe = _VERBS[arguments.verb]
    asked = load_known(kind, given)
    if arguments.verb == "show":
        require_database(home)
        print(f"Memory of {home}:", flush=True)
    operation = f"memory.{arguments.verb}"
    done = client.perform_typed(home, operation, asked, answer, timeout=_PATIENCE)
    print("\n".join(describe(done, zone)))
    return 1 if isinstance(done, RestoredMemory) and done.kept else 0


def read_date(text: str) -> datetime:
    """Parse a date or a time. It is in the deployment's zone unless the text names another.

    A date alone means the end of that day. Raises `argparse.ArgumentTypeError`.
    """
    try:
        moment = datetime.fromisoformat(text.strip())
        return moment + timedelta(days=1) if len(text.strip()) <= _DAY else moment
    except (ValueError, OverflowError):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a date; write it as 2026-11-21 or '2026-11-21 18:30'"
        ) from None


def count_milliseconds(moment: datetime, zone: ZoneInfo) -> int:
    """Convert a time in the deployment's zone to milliseconds since the epoch."""
    return int((moment if moment.tzinfo else moment.replace(tzinfo=zone)).timestamp() * 1000)


def _list_log(answer: ChangeLog, zone: ZoneInfo) -> list[str]:
    return [_describe(row, zone) for row in answer.changes] or ["Memory has not changed yet."]


def _list_lists(answer: ShownMemory, _: ZoneInfo) -> list[str]:
    lines: list[str] = []
    for one in answer.lists:
        lines.append(f"{one.person}, {_FILES[one.list]}:")
        for entry in one.entries:
            words = entry.words.replace("\n", "\n        ")
            lines.append(f"{entry.row or '-':>6}  {words}")
        lines.append("")
    return lines[:-1] or ["Memory is empty."]


def _describe_undo(answer: UndoneMemory, zone: ZoneInfo) -> list[str]:
    lines = ["Taken back:", _describe(answer.undone, zone)]
    parts = (("Removed with it:", answer.derived), ("Restored with it:", answer.revived))
    for head, rows in parts:
        others = [row for row in rows if row.row != answer.undone.row]
        lines += [head, *(_describe(row, zone) for row in others)] if others else []
    lines += ["This row records it; `talaria memory undo` reverts it:"]
    return [*lines, _describe(answer.row, zone)]


def _describe_restored(answer: RestoredMemory, _: ZoneInfo) -> list[str]:
    lines = [
        f"{one.person}, {_FILES[one.list]}: {_count(one.changes, 'change', 'changes')}"
        f" reverted, {_count(one.entries, 'entry', 'entries')} now"
        + (
            f"; not restored: {one.left_out} that were deleted or moved with an account."
            if one.left_out
            else "."
        )
        for one in answer.restored
    ]
    lines += [f"{one.person}: {one.why}" for one in answer.kept]
    return lines or ["Nothing needed a change."]


_VERBS: Mapping[str, tuple[type[Any], type[Any], Callable[[Any, ZoneInfo], list[str]]]] = {
    "log": (ListChanges, ChangeLog, _list_log),
    "show": (ShowMemory, ShownMemory, _list_lists),
    "undo": (UndoChange, UndoneMemory, _describe_undo),
    "restore": (RestoreMemory, RestoredMemory, _describe_restored),
}
"""The types of what each verb asks and gets, and what shows it."""


def _describe(row: MemoryChange, zone: ZoneInfo) -> str:
    moment = datetime.fromtimestamp(row.at / 1000, UTC).astimezone(zone)
    undoes = f" (undoes {row.undoes})" if row.undoes else ""
    # Changes by an import or at the command line have no message to show.
    origin = f" ({row.evidence})" if row.evidence and not row.messages else ""
    return (
        f"{row.row:>6}  {moment:%Y-%m-%d %H:%M:%S}  {row.person:<16} {row.list:<7}"
        f" {row.actor:<12} {_describe_change(row)}{undoes}{origin}"
    )


def _describe_change(row: MemoryChange) -> str:
    if row.before is None and row.after is None:
        return "no visible change"
    if row.before is None:
        return f"+ {_shorten(row.after or '')}"
    if row.after is None:
        return f"- {_shorten(row.before)}"
    return f"{_shorten(row.before)} -> {_shorten(row.after)}"


def _count(count: int, one: str, several: str) -> str:
    return f"{count} {one if count == 1 else several}"


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"
