"""`talaria memory`: shows memory and its changes, and undoes or restores them."""

import argparse
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from gateway.app.config_file import read_zone
from gateway.home import open_home
from gateway.interfaces import client
from gateway.interfaces.client import require_database
from gateway.interfaces.parser import Parser

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
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    log = verbs.add_parser(
        "log",
        help="list the newest changes with their ledger rows",
        examples=["talaria memory log", "talaria memory log --person ada --limit 50"],
    )
    log.add_argument("--limit", metavar="N", type=int, default=_SHOWN, help="how many")
    show = verbs.add_parser(
        "show",
        help="show memory, now or at a moment",
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
    verb = arguments.verb
    asked = dict(vars(arguments))
    if moment := asked.pop("at", None):
        asked["moment"] = count_milliseconds(moment, zone)
    if verb == "show":
        require_database(home)
        print(f"Memory of {home}:", flush=True)
    answer = client.perform(home, f"memory.{verb}", asked, timeout=_PATIENCE)
    lines = {
        "log": _list_log,
        "show": _list_lists,
        "undo": _describe_undo,
        "restore": _describe_restored,
    }
    print("\n".join(lines[verb](answer, zone)))
    return 1 if answer.get("kept") else 0


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


def _list_log(answer: Mapping[str, Any], zone: ZoneInfo) -> list[str]:
    return [_describe(row, zone) for row in answer["changes"]] or ["Memory has not changed yet."]


def _list_lists(answer: Mapping[str, Any], _: ZoneInfo) -> list[str]:
    lines: list[str] = []
    for one in answer["lists"]:
        lines.append(f"{one['person']}, {_FILES[one['list']]}:")
        for entry in one["entries"]:
            words = entry["words"].replace("\n", "\n        ")
            lines.append(f"{entry['row'] or '-':>6}  {words}")
        lines.append("")
    return lines[:-1] or ["Memory is empty."]


def _describe_undo(answer: Mapping[str, Any], zone: ZoneInfo) -> list[str]:
    lines = ["Undone:", _describe(answer["undone"], zone)]
    for head, key in (("Removed with it:", "derived"), ("Restored with it:", "revived")):
        others = [row for row in answer[key] if row["row"] != answer["undone"]["row"]]
        lines += [head, *(_describe(row, zone) for row in others)] if others else []
    lines += ["This row records it; `talaria memory undo` reverts it:"]
    return [*lines, _describe(answer["row"], zone)]


def _describe_restored(answer: Mapping[str, Any], _: ZoneInfo) -> list[str]:
    lines = [
        f"{one['person']}, {_FILES[one['list']]}: {_count(one['changes'], 'change', 'changes')}"
        f" reverted, {_count(one['entries'], 'entry', 'entries')} now"
        + (
            f"; not restored: {one['left_out']} that were deleted or moved with an account."
            if one["left_out"]
            else "."
        )
        for one in answer["restored"]
    ]
    lines += [f"{one['person']}: {one['why']}" for one in answer["kept"]]
    return lines or ["Nothing needed a change."]


def _describe(row: Mapping[str, Any], zone: ZoneInfo) -> str:
    moment = datetime.fromtimestamp(row["at"] / 1000, UTC).astimezone(zone)
    undoes = f" (undoes {row['undoes']})" if row["undoes"] else ""
    # Changes by an import or at the command line have no message to show.
    origin = f" ({row['evidence']})" if row["evidence"] and not row["messages"] else ""
    return (
        f"{row['row']:>6}  {moment:%Y-%m-%d %H:%M:%S}  {row['person']:<16} {row['list']:<7}"
        f" {row['actor']:<12} {_describe_change(row)}{undoes}{origin}"
    )


def _describe_change(row: Mapping[str, Any]) -> str:
    before, after = row["before"], row["after"]
    if before is None and after is None:
        return "no visible change"
    if before is None:
        return f"+ {_shorten(after)}"
    if after is None:
        return f"- {_shorten(before)}"
    return f"{_shorten(before)} -> {_shorten(after)}"


def _count(count: int, one: str, several: str) -> str:
    return f"{count} {one if count == 1 else several}"


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"
