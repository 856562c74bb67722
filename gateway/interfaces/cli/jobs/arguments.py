"""The arguments of `talaria jobs`, which `--help` and the completions need."""

import argparse
from collections.abc import Callable
from typing import get_args

from adapters.ids import list_platforms
from agent_core.schedule.triggers import read_cron, read_event, read_once
from agent_core.schedule.wall_clock import find_zone
from agent_core.state.jobs.late import Late
from gateway.interfaces.parser import Parser

_HOME = "home"
CHANGES = {
    "pause": ("pause a job until it is resumed", "paused"),
    "resume": ("resume a paused job", "on again"),
    "run": ("run a job once, outside its schedule", "run now, or as soon as Talaria runs"),
    "drop": ("delete a job; `restore` brings it back", "deleted"),
    "restore": ("bring a deleted job back", "back"),
    "undo": ("undo the last change of a job", "what it was before"),
    "webhook": ("give a job a new web address that starts it", "waiting for requests"),
}
ALIASES = {"drop": ("rm", "delete")}
_EPILOG = (
    "Scripts (--script) can be added here only, not from a chat: they run as Talaria's user"
    " in its home directory. Their output is"
    " sent to the person; without output, no message is sent."
)
_EXAMPLES_OF_ADD = (
    "talaria jobs add --person ada --cron '0 8 * * 1-5' --message 'Take the pills.'",
    "talaria jobs add --person ada --times 8:00 --skip holidays --message 'Take the pills.'",
    "talaria jobs add --person ada --at 2026-11-23T08:00 --prompt 'What is new in the feeds?'",
    "talaria jobs add --person ada --on 'after 3' --prompt 'Sum up what job 3 found.'",
    "talaria jobs add --person ada --every 60 --script -- df -h",
)


def configure(parser: Parser) -> None:
    """Add the verbs; the default is `list`."""
    parser.examples = ("talaria jobs list", "talaria jobs show 3")
    parser.epilog = _EPILOG
    verbs = parser.add_subparsers(dest="verb", metavar="VERB")
    listing = verbs.add_parser(
        "list",
        help="list jobs with their schedules (the default)",
        examples=["talaria jobs list", "talaria jobs list --person ada"],
    )
    for one in (parser, listing):
        # These defaults must not override options given before the verb.
        silent = argparse.SUPPRESS
        one.add_argument("--system", action="store_true", default=silent, help="system jobs only")
        one.add_argument("--person", metavar="SLUG", default=silent, help="one person's jobs only")
    show = verbs.add_parser(
        "show", help="show one job with its latest runs", examples=["talaria jobs show 3"]
    )
    shown = verbs.add_parser(
        "preview",
        help="show its latest result as each platform would",
        examples=["talaria jobs preview 3"],
    )
    changes = [
        verbs.add_parser(
            name,
            help=reported,
            aliases=ALIASES.get(name, ()),
            examples=[f"talaria jobs {name} 3"],
        )
        for name, (reported, _) in CHANGES.items()
    ]
    for one in (show, shown, *changes):
        one.add_argument("id", metavar="ID", type=_read_number, help="as `talaria jobs` lists it")
    add = verbs.add_parser(
        "add", help="add a job for a person", epilog=_EPILOG, examples=_EXAMPLES_OF_ADD
    )
    _configure_add(add)
    _configure_change(
        verbs.add_parser(
            "change",
            help="change a job's schedule, text, model, tools or target",
            epilog=_EPILOG,
            examples=[
                "talaria jobs change 3 --cron '30 7 * * 1-5'",
                "talaria jobs change 3 --urgent",
            ],
        )
    )


def _configure_add(add: argparse.ArgumentParser) -> None:
    add.add_argument("--person", metavar="SLUG", required=True, help="the person it belongs to")
    _configure_timing(add, is_needed=True)
    _configure_work(add, is_needed=True)
    _configure_ways(add)


def _configure_change(change: argparse.ArgumentParser) -> None:
    change.add_argument("id", metavar="ID", type=_read_number, help="as `talaria jobs` lists it")
    _configure_timing(change, is_needed=False)
    _configure_work(change, is_needed=False)
    _configure_ways(change)


def _configure_timing(parser: argparse.ArgumentParser, *, is_needed: bool) -> None:
    when = parser.add_mutually_exclusive_group(required=is_needed)
    when.add_argument(
        "--cron",
        metavar="EXPR",
        type=_check(lambda: read_cron),
        help="five fields",
    )
    when.add_argument(
        "--every", dest="every_minutes", metavar="MIN", type=int, help="minutes between two runs"
    )
    when.add_argument(
        "--at",
        metavar="LOCAL",
        type=_check(lambda: read_once),
        help="once, like 2026-11-23T08:00",
    )
    when.add_argument(
        "--times",
        metavar="TIMES",
        type=_split,
        help="comma-separated: 18:30, 09:00-17:00/90 (every 90 minutes), sunrise, sunset-30",
    )
    when.add_argument(
        "--on",
        metavar="EVENT",
        type=_check(lambda: read_event),
        help='"after JOB", "after JOB failed", "message WORDS", "feed URL", "file *.pdf" or'
        ' "webhook"',
    )
    parser.add_argument(
        "--rule", metavar="RRULE", help="days of --times; FREQ=DAILY is the default"
    )
    parser.add_argument(
        "--skip",
        metavar="DAYS",
        action="append",
        help='days left out of --times: "2026-12-24", "2026-12-24/2027-01-06", "holidays",'
        ' "holidays:DE-BY" or "calendar URL-OR-FILE"; repeatable',
    )
    parser.add_argument("--starts", metavar="LOCAL", help="first day or time")
    parser.add_argument("--until", metavar="LOCAL", help="last day or time")
    parser.add_argument("--count", metavar="N", type=int, help="number of times")
    parser.add_argument("--place", metavar="LAT,LON", help="where the sun rises and sets")


def _configure_work(parser: argparse.ArgumentParser, *, is_needed: bool) -> None:
    what = parser.add_mutually_exclusive_group(required=is_needed)
    what.add_argument("--message", metavar="TEXT", help="text to send as it is")
    what.add_argument("--prompt", metavar="TEXT", help="task for the assistant")
    what.add_argument(
        "--script",
        action="store_true",
        help="send the output of a command, which comes last, after --",
    )
    # With `*`, argparse would match zero words before it reaches the script's words.
    words = parser.add_argument(
        "words", metavar="WORD", nargs="+", help="the script's command line"
    )
    words.required = False


def _configure_ways(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--title", metavar="TEXT", help="its title; the first words by default")
    parser.add_argument(
        "--zone",
        metavar="ZONE",
        type=_check(lambda: find_zone),
        help="IANA name",
    )
    parser.add_argument("--late", choices=get_args(Late), help="what to do with missed times")
    parser.add_argument(
        "--urgent", action=argparse.BooleanOptionalAction, help="deliver in quiet hours, too"
    )
    parser.add_argument(
        "--to",
        action="append",
        choices=(_HOME, *list_platforms()),
        help="home (the default) or a platform of theirs; repeatable",
    )
    parser.add_argument("--model", metavar="NAME", help='model to use; "" is the default')
    parser.add_argument(
        "--tools",
        metavar="NAMES",
        type=_split,
        help='tools it may use, comma-separated; "" means all',
    )
    parser.add_argument(
        "--skills",
        metavar="NAMES",
        type=_split,
        help='skills to follow, comma-separated; "" means none',
    )
    parser.add_argument(
        "--aware", action=argparse.BooleanOptionalAction, help="let a run see earlier runs"
    )
    parser.add_argument(
        "--day-usd", metavar="USD", type=float, help="daily limit in dollars; 0 means no limit"
    )
    parser.add_argument(
        "--gate",
        metavar="CHECK",
        help='run only if "feed URL" has news, "page URL" changed, "script COMMAND" returns 0'
        " and so on; see the documentation",
    )
    parser.add_argument(
        "--pause-after", metavar="N", type=int, help="pause it after so many failures in a row"
    )


def _check(find_reader: Callable[[], Callable[[str], object]]) -> Callable[[str], str]:
    """Return an argparse type that checks whether a text can be read, and keeps the text.

    Imports the reader only if there is a text to check.
    """

    def checked(text: str) -> str:
        try:
            find_reader()(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None
        return text

    return checked


def _split(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _read_number(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a job number")
    return int(text)
