"""The arguments of `talaria turns`, which `--help` and the completions need."""

import argparse
from datetime import date, datetime, time
from typing import get_args

from agent_core.agent.replay.formats import TrajectoryFormat
from gateway.interfaces.parser import Parser, read_path

_SHOWN = 20


def configure(parser: Parser) -> None:
    """Add `list`, `show`, `replay`, `export` and `undelivered`."""
    parser.examples = ("talaria turns list", "talaria turns show 128")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    recent = verbs.add_parser(
        "list", help="list the newest turns", examples=["talaria turns list --limit 50"]
    )
    show = verbs.add_parser(
        "show",
        help="show one turn: its message, steps, cost, and why it failed",
        examples=["talaria turns show 128", "talaria turns show --prompt 128"],
    )
    show.add_argument(
        "--prompt",
        action="store_true",
        help="rebuild the model's requests, and tell if they are exact",
    )
    replay = verbs.add_parser(
        "replay",
        help="replay a turn and compare its requests",
        examples=["talaria turns replay 128", "talaria turns replay 128 --memory now"],
    )
    replay.add_argument(
        "--memory",
        choices=("then", "now"),
        default="then",
        help="now: compare the prompt with the one for today's memory",
    )
    for one in (show, replay):
        one.add_argument("id", metavar="ID", type=int, help="from `talaria turns list`")
    _configure_export(verbs)
    dead = verbs.add_parser("undelivered", help="list messages that could not be delivered")
    for listing in (recent, dead):
        listing.add_argument("--limit", metavar="N", type=int, default=_SHOWN, help="how many")


def _configure_export(verbs: "argparse._SubParsersAction[Parser]") -> None:
    export = verbs.add_parser(
        "export",
        help="write conversations to a new file as training data",
        examples=[
            "talaria turns export ~/talks.jsonl",
            "talaria turns export ~/ada.jsonl --format openai --person ada --since 2026-11-01",
            "talaria turns export ~/talks.jsonl --format sharegpt --redact",
        ],
    )
    export.add_argument(
        "file", metavar="FILE", type=read_path, help="a file that does not exist yet"
    )
    export.add_argument(
        "--format",
        choices=get_args(TrajectoryFormat),
        default="jsonl",
        help="jsonl keeps everything; the others are for training",
    )
    export.add_argument("--person", metavar="NAME", help="only theirs; see `talaria people list`")
    export.add_argument(
        "--since", metavar="DATE", type=_read_day, help="only what was used since a day"
    )
    export.add_argument(
        "--redact",
        action="store_true",
        help="take out names, addresses, numbers and secrets; read the file before you share it",
    )


def _read_day(text: str) -> datetime:
    """Parse a day of this machine's time zone. Raises `ArgumentTypeError`."""
    try:
        return datetime.combine(date.fromisoformat(text), time()).astimezone()
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a date like 2026-11-01") from None
