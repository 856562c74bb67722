"""`talaria jobs`: lists, changes, adds and previews scheduled jobs."""

import argparse
from collections.abc import Callable, Mapping
from typing import Any, get_args

from agent_core.schedule import find_zone, read_cron, read_event, read_once, show_moment
from agent_core.state.jobs.jobs import Late
from gateway.bootstrap import plugins
from gateway.config import load
from gateway.errors import Mistaken
from gateway.interfaces.operations.runner import perform
from gateway.interfaces.parser import Parser

_HOME = "home"
_CHANGES = {
    "pause": ("pause a job until it is resumed", "paused"),
    "resume": ("resume a paused job", "on again"),
    "run": ("run a job once, outside its schedule", "run now, or as soon as Talaria runs"),
    "drop": ("delete a job", "deleted"),
    "webhook": ("give a job a new web address that starts it", "waiting for requests"),
}
_ALIASES = {"drop": ("rm", "delete")}
_EPILOG = (
    "Scripts (--script) can be added here only, not from a chat: they run as Talaria's user"
    " in its home directory. Their output is"
    " sent to the person; without output, no message is sent."
)


_OF_RULES = ("times", "rule", "skip", "starts", "until", "count", "place")
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
        # A verb's defaults must not override options given before the verb.
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
            aliases=_ALIASES.get(name, ()),
            examples=[f"talaria jobs {name} 3"],
        )
        for name, (reported, _) in _CHANGES.items()
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
    when.add_argument("--cron", metavar="EXPR", type=_check(read_cron), help="five fields")
    when.add_argument("--every", metavar="MIN", type=int, help="minutes between two runs")
    when.add_argument(
        "--at", metavar="LOCAL", type=_check(read_once), help="once, like 2026-11-23T08:00"
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
        type=_check(read_event),
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
    # argparse would match "*" with no words before it sees the script's.
    words = parser.add_argument(
        "words", metavar="WORD", nargs="+", help="the script's command line"
    )
    words.required = False


def _configure_ways(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--title", metavar="TEXT", help="its title; the first words by default")
    parser.add_argument("--zone", metavar="ZONE", type=_check(find_zone), help="IANA name")
    parser.add_argument("--late", choices=get_args(Late), help="what to do with missed times")
    parser.add_argument(
        "--urgent", action=argparse.BooleanOptionalAction, help="deliver in quiet hours, too"
    )
    parser.add_argument(
        "--to",
        action="append",
        choices=(_HOME, *plugins.platforms()),
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


def run(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Run the verb in the running gateway or on its database, and print the result."""
    found = load(environ)
    said = arguments.verb or "list"
    verb = next((name for name, others in _ALIASES.items() if said in others), said)
    asked = _ASKED.get(verb, _name_job)(arguments)
    answer = perform(found.home, f"jobs.{verb}", asked, settings=found)
    if verb in _CHANGES:
        print(f"Job {answer['id']} ({answer['title']}) is {_CHANGES[verb][1]}.")
        if verb == "resume":
            print(f"Next: {answer['coming']}.")
        if answer.get("note"):
            print(answer["note"])
        if verb == "webhook":
            print(f"A POST request to this address starts it:\n{answer['address']}")
            print("Keep it secret. It isn't shown again; this command makes a new one.")
    else:
        print("\n".join(_LINES[verb](answer)))
    return 0


def _check(read: Callable[[str], object]) -> Callable[[str], str]:
    """Return a type for argparse that keeps the text after checking that it can be read."""

    def checked(text: str) -> str:
        try:
            read(text)
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


def _name_job(arguments: argparse.Namespace) -> dict[str, Any]:
    return {"id": arguments.id}


def _ask_for_list(arguments: argparse.Namespace) -> dict[str, Any]:
    return {
        "system": getattr(arguments, "system", False),
        "person": getattr(arguments, "person", None),
    }


def _ask_to_add(arguments: argparse.Namespace) -> dict[str, Any]:
    return {"person": arguments.person, **_ask_for_work(arguments), **_ask_for_ways(arguments)}


def _ask_to_change(arguments: argparse.Namespace) -> dict[str, Any]:
    return {"id": arguments.id, **_ask_for_work(arguments), **_ask_for_ways(arguments)}


def _ask_for_ways(arguments: argparse.Namespace) -> dict[str, Any]:
    return {
        "title": arguments.title,
        "cron": arguments.cron,
        "every_minutes": arguments.every,
        "at": arguments.at,
        "on": arguments.on,
        **{name: getattr(arguments, name) for name in _OF_RULES},
        "zone": arguments.zone,
        "late": arguments.late,
        "urgent": arguments.urgent,
        "to": arguments.to,
        "model": arguments.model,
        "tools": arguments.tools,
        "skills": arguments.skills,
        "aware": arguments.aware,
        "day_usd": arguments.day_usd,
        "pause_after": arguments.pause_after,
        "gate": arguments.gate,
    }


def _ask_for_work(arguments: argparse.Namespace) -> dict[str, Any]:
    if arguments.script:
        return {"kind": "script", "words": arguments.words}
    if arguments.words:
        raise Mistaken(f"{' '.join(arguments.words)} is no option; put a command after --script.")
    if arguments.message is not None:
        return {"kind": "message", "text": arguments.message}
    return {} if arguments.prompt is None else {"kind": "prompt", "text": arguments.prompt}


_ASKED: Mapping[str, Callable[[argparse.Namespace], dict[str, Any]]] = {
    "list": _ask_for_list,
    "add": _ask_to_add,
    "change": _ask_to_change,
}


def _list(answer: Mapping[str, Any]) -> list[str]:
    lines = [
        line
        for job in answer["jobs"]
        for line in (_outline(job), *([f"{'':>8}Last: {job['last']}"] if "last" in job else []))
    ]
    return lines or ["There are no jobs."]


def _show(answer: Mapping[str, Any]) -> list[str]:
    return [
        _outline(answer),
        f"Next: {answer['coming']}",
        "",
        *(f"> {line}" for line in answer["does"].splitlines()),
        "",
        *answer["ways"],
        "",
        *([f"Last runs ({answer['zone']}):", *answer["runs"]] if answer["runs"] else ["No runs."]),
    ]


def _describe_made(answer: Mapping[str, Any]) -> list[str]:
    return [f"Made: {_outline(answer).strip()}", *_describe_ways(answer)]


def _describe_changed(answer: Mapping[str, Any]) -> list[str]:
    return [f"Changed: {_outline(answer).strip()}", *_describe_ways(answer)]


def _describe_ways(answer: Mapping[str, Any]) -> list[str]:
    return [f"Next: {answer['coming']}", *answer["ways"]]


def _preview(answer: Mapping[str, Any]) -> list[str]:
    lines = [*_describe_ways(answer), ""]
    if answer["is_sample"]:
        lines += ["It hasn't run yet; this shows what a result would look like.", ""]
    for platform in answer["platforms"]:
        messages = platform["messages"]
        for number, message in enumerate(messages, start=1):
            count = f" {number} of {len(messages)}" if len(messages) > 1 else ""
            lines += [f"--- {platform['name']}{count} ---", message, ""]
        lines += [f"--- {platform['name']}, {_show_file(file)} ---\n" for file in platform["files"]]
    return lines[:-1]


def _show_file(file: Mapping[str, Any]) -> str:
    return f"file {file['name']} ({file['media_type']}, {file['size']:,} bytes)"


_LINES: Mapping[str, Callable[[Mapping[str, Any]], list[str]]] = {
    "list": _list,
    "show": _show,
    "add": _describe_made,
    "change": _describe_changed,
    "preview": _preview,
}


def _outline(job: Mapping[str, Any]) -> str:
    whose = job["person"] or "the deployment"
    room = f" in {job['room']}" if job["room"] else ""
    state = f"{job['state']} ({job['reason']})" if job["reason"] else job["state"]
    coming = ""
    if job["state"] == "active" and job["next_at"] is not None:
        coming = f", next {show_moment(job['next_at'], find_zone(job['zone']))}"
    return (
        f"{job['id']:>6}  {whose + room:<16} {job['kind']:<7} {state}{coming}"
        f"  {job['title']}: {job['meaning']} ({job['zone']})"
    )
