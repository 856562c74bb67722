"""`talaria jobs`: what is done at its time, listed, changed, made, and how it would look."""

import argparse
from collections.abc import Callable, Mapping
from typing import Any, get_args

from agent_core.schedule.echo import show_moment
from agent_core.schedule.slots import find_zone
from agent_core.schedule.timing import read_cron, read_once
from agent_core.state.jobs import Late
from gateway import plugs, settings
from gateway.control.desk import perform
from gateway.errors import Mistaken
from gateway.words import WORDS

SUMMARY = WORDS["jobs"]

_HOME = "home"
_CHANGES = {
    "pause": ("a job waits until it is resumed", "paused"),
    "resume": ("a paused job goes on with its next time", "on again"),
    "run": ("a job is run once, besides its times", "run now; it is done as soon as Talaria runs"),
    "drop": ("a job is no more", "gone"),
}
_EPILOG = (
    "Commands (--script) can be made here only, not from a chat: they run as the user of Talaria,"
    " in its home, and whoever has this command line owns the machine anyway. Their output is"
    " sent; where there is none, nothing is."
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verbs; without one, `list`."""
    parser.epilog = _EPILOG
    verbs = parser.add_subparsers(dest="verb", metavar="VERB")
    listing = verbs.add_parser("list", help="jobs with their times; the usual verb")
    for one in (parser, listing):
        # What was said before the verb must not be undone by the defaults behind it.
        silent = argparse.SUPPRESS
        one.add_argument("--system", action="store_true", default=silent, help="the house's own")
        one.add_argument("--person", metavar="SLUG", default=silent, help="of one person only")
    show = verbs.add_parser("show", help="one job in full, with its last runs")
    shown = verbs.add_parser("preview", help="what it made last, as each platform would show it")
    changes = [verbs.add_parser(name, help=told) for name, (told, _) in _CHANGES.items()]
    for one in (show, shown, *changes):
        one.add_argument("id", metavar="ID", type=_read_number, help="as `talaria jobs` lists it")
    add = verbs.add_parser("add", help="make a job for a person", epilog=_EPILOG)
    _configure_add(add)


def _configure_add(add: argparse.ArgumentParser) -> None:
    add.add_argument("--person", metavar="SLUG", required=True, help="whose it is")
    when = add.add_mutually_exclusive_group(required=True)
    when.add_argument("--cron", metavar="EXPR", type=_check(read_cron), help="five fields")
    when.add_argument("--every", metavar="MIN", type=int, help="minutes between two runs")
    when.add_argument(
        "--at", metavar="LOCAL", type=_check(read_once), help="once, like 2026-11-23T08:00"
    )
    what = add.add_mutually_exclusive_group(required=True)
    what.add_argument("--message", metavar="TEXT", help="words that are sent as they stand")
    what.add_argument("--prompt", metavar="TEXT", help="what the assistant is asked to do then")
    what.add_argument(
        "--script",
        action="store_true",
        help="a command whose output is sent: it stands last, behind --",
    )
    # Several words, but none where no script is made; "*" would be taken for none at once.
    words = add.add_argument("words", metavar="WORD", nargs="+", help="its command line")
    words.required = False
    add.add_argument("--title", metavar="TEXT", help="its name, if not its first words")
    add.add_argument("--zone", metavar="ZONE", type=_check(find_zone), help="IANA name")
    add.add_argument("--late", choices=get_args(Late), help="what becomes of missed times")
    add.add_argument("--urgent", action="store_true", help="in quiet hours, too")
    add.add_argument(
        "--to",
        action="append",
        choices=(_HOME, *plugs.platforms()),
        help="the home (as usual) or a platform of theirs; may be said again",
    )


def run(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Do it here or in the running gateway, and print what came of it."""
    house = settings.load(environ)
    verb = arguments.verb or "list"
    asked = _ASKED.get(verb, _name_job)(arguments)
    answer = perform(house.home, f"jobs.{verb}", asked, settings=house)
    if verb in _CHANGES:
        print(f"Job {answer['id']} ({answer['title']}) is {_CHANGES[verb][1]}.")
        if verb == "resume":
            print(f"Next: {answer['coming']}.")
    else:
        print("\n".join(_LINES[verb](answer)))
    return 0


def _check(read: Callable[[str], object]) -> Callable[[str], str]:
    """A type for argparse: the text as it stands, once it can be read."""

    def checked(text: str) -> str:
        try:
            read(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None
        return text

    return checked


def _read_number(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is no number of a job")
    return int(text)


def _name_job(arguments: argparse.Namespace) -> dict[str, Any]:
    return {"id": arguments.id}


def _ask_for_list(arguments: argparse.Namespace) -> dict[str, Any]:
    return {
        "system": getattr(arguments, "system", False),
        "person": getattr(arguments, "person", None),
    }


def _ask_to_add(arguments: argparse.Namespace) -> dict[str, Any]:
    asked = {
        "person": arguments.person,
        "title": arguments.title,
        "cron": arguments.cron,
        "every_minutes": arguments.every,
        "at": arguments.at,
        "zone": arguments.zone,
        "late": arguments.late,
        "urgent": arguments.urgent,
        "to": arguments.to,
    }
    if arguments.script:
        return asked | {"kind": "script", "words": arguments.words}
    if arguments.words:
        raise Mistaken(f"{' '.join(arguments.words)} is no option; a command goes with --script.")
    kind = "prompt" if arguments.message is None else "message"
    return asked | {"kind": kind, "text": arguments.prompt or arguments.message or ""}


_ASKED: Mapping[str, Callable[[argparse.Namespace], dict[str, Any]]] = {
    "list": _ask_for_list,
    "add": _ask_to_add,
}


def _list(answer: Mapping[str, Any]) -> list[str]:
    return [_outline(job) for job in answer["jobs"]] or ["There are no jobs."]


def _show(answer: Mapping[str, Any]) -> list[str]:
    ways = [f"Goes to: {', '.join(answer['targets'])}"] if answer["targets"] else []
    return [
        _outline(answer),
        f"Next: {answer['coming']}",
        "",
        *(f"> {line}" for line in answer["body"].splitlines()),
        "",
        *ways,
        *answer["how"],
        "",
        *([f"Last runs ({answer['zone']}):", *answer["runs"]] if answer["runs"] else ["No runs."]),
    ]


def _tell_made(answer: Mapping[str, Any]) -> list[str]:
    return [f"Made: {_outline(answer).strip()}", f"Next: {answer['coming']}."]


def _preview(answer: Mapping[str, Any]) -> list[str]:
    lines: list[str] = []
    for platform in answer["platforms"]:
        messages = platform["messages"]
        for number, message in enumerate(messages, start=1):
            count = f" {number} of {len(messages)}" if len(messages) > 1 else ""
            lines += [f"--- {platform['name']}{count} ---", message, ""]
    return lines[:-1]


_LINES: Mapping[str, Callable[[Mapping[str, Any]], list[str]]] = {
    "list": _list,
    "show": _show,
    "add": _tell_made,
    "preview": _preview,
}


def _outline(job: Mapping[str, Any]) -> str:
    whose = job["person"] or "the house"
    room = f" in {job['room']}" if job["room"] else ""
    state = f"{job['state']} ({job['reason']})" if job["reason"] else job["state"]
    coming = ""
    if job["state"] == "active" and job["next_at"] is not None:
        coming = f", next {show_moment(job['next_at'], find_zone(job['zone']))}"
    return (
        f"{job['id']:>6}  {whose + room:<16} {job['kind']:<7} {state}{coming}"
        f"  {job['title']}: {job['meaning']} ({job['zone']})"
    )
