"""`talaria jobs`: lists, changes, adds and previews scheduled jobs."""

import argparse
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal, get_args, get_origin

from adapters.ids import list_platforms
from agent_core.schedule.job_fields import DECLARATIONS, HOME, FieldDeclaration
from agent_core.schedule.wall_clock import find_zone
from gateway.errors import Mistaken
from gateway.home import open_home
from gateway.interfaces import client
from gateway.interfaces.client import require_database
from gateway.interfaces.parser import Parser
from gateway.interfaces.waiting import load_settings
from gateway.operations.job_types import (
    ActOnJob,
    AddJob,
    ChangedJob,
    ChangeJob,
    JobOutline,
    JobPreview,
    ListedJobs,
    ListJobs,
    PickJob,
    ResultFile,
    ShownJob,
)
from gateway.operations.wire import load_known

_Flags = argparse.ArgumentParser | argparse._MutuallyExclusiveGroup
_DECLARED = {one.name: one for one in DECLARATIONS}
_TIMINGS = ("cron", "every_minutes", "at", "times", "on")
"""The fields of which a job has one, in the order of the help."""
CHANGES = {
    "pause": ("pause a job until it is resumed", "paused"),
    "resume": ("resume a paused job", "on again"),
    "run": ("run a job once, outside its schedule", "run now, or as soon as Talaria runs"),
    "delete": ("delete a job; `restore` brings it back", "deleted"),
    "restore": ("bring a deleted job back", "back"),
    "undo": ("undo the last change of a job", "what it was before"),
    "webhook": ("give a job a new web address that starts it", "waiting for requests"),
}
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
    parser.default_verb = "list"
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    listing = verbs.add_parser(
        "list",
        help="list jobs with their schedules (the default)",
        examples=["talaria jobs list", "talaria jobs list --person ada"],
    )
    listing.add_argument("--system", action="store_true", help="system jobs only")
    listing.add_argument("--person", metavar="SLUG", help="one person's jobs only")
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
    when = _configure_timing(add, is_needed=True)
    when.add_argument("--when", metavar="WORDS", help='in words: "every monday at 19:00"')
    _configure_work(add, is_needed=True)
    _configure_ways(add)


def _configure_change(change: argparse.ArgumentParser) -> None:
    change.add_argument("id", metavar="ID", type=_read_number, help="as `talaria jobs` lists it")
    _configure_timing(change, is_needed=False)
    _configure_work(change, is_needed=False)
    _configure_ways(change)


def _configure_timing(
    parser: argparse.ArgumentParser, *, is_needed: bool
) -> argparse._MutuallyExclusiveGroup:
    when = parser.add_mutually_exclusive_group(required=is_needed)
    for name in _TIMINGS:
        _add_flag(when, _DECLARED[name])
    for one in DECLARATIONS:
        if one.goes_with:
            _add_flag(parser, one)
    return when


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
    for one in DECLARATIONS:
        if one.flag and not one.goes_with and one.name not in _TIMINGS:
            _add_flag(parser, one)


def _add_flag(parser: _Flags, field: FieldDeclaration) -> None:
    """Add the flag of a field; its type follows from the field's."""
    flag = field.flag
    assert flag is not None  # noqa: S101 - the caller takes fields with a flag
    more: dict[str, Any] = {"metavar": flag.metavar} if flag.metavar else {}
    if field.type is bool:
        more["action"] = argparse.BooleanOptionalAction
    elif field.name == "to":
        more |= {"action": "append", "choices": (HOME, *list_platforms())}
    elif get_origin(field.type) is Literal:
        more["choices"] = get_args(field.type)
    elif flag.is_repeated:
        more["action"] = "append"
    elif get_origin(field.type) is tuple:
        more["type"] = _split
    elif flag.check:
        more["type"] = _check(flag.check)
    elif field.type is not str:
        more["type"] = field.type
    name = (flag.name or field.name).replace("_", "-")
    parser.add_argument(f"--{name}", dest=field.name, help=flag.help, **more)


def _check(read: Callable[[str], object]) -> Callable[[str], str]:
    """Return an argparse type that checks whether a text can be read, and keeps the text."""

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


def run(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Run the verb in the running gateway or on its database, and print the result."""
    home = open_home(environ)
    verb = arguments.verb
    kind, answer, describe = _VERBS.get(verb, (ActOnJob, ChangedJob, partial(_describe_act, verb)))
    asked = _read(kind, arguments)
    if verb in ("list", "show"):
        require_database(home)
        # This fails before the database is opened.
        print(f"Jobs of {home}:" if verb == "list" else f"Job of {home}:", flush=True)
    done = client.perform_typed(
        home, f"jobs.{verb}", asked, answer, load_settings=partial(load_settings, environ)
    )
    print("\n".join(describe(done)))
    return 0


def _read(kind: type[Any], arguments: argparse.Namespace) -> Any:
    """Return the request that the arguments make. Raises `Mistaken`."""
    given = dict(vars(arguments))
    if kind in (AddJob, ChangeJob):
        given |= _read_work(arguments)
    return load_known(kind, given)


def _read_work(arguments: argparse.Namespace) -> dict[str, object]:
    if arguments.script:
        return {"kind": "script"}
    if arguments.words:
        raise Mistaken(f"{' '.join(arguments.words)} is no option; put a command after --script.")
    if arguments.message is not None:
        return {"kind": "message", "text": arguments.message}
    return {} if arguments.prompt is None else {"kind": "prompt", "text": arguments.prompt}


def _list(answer: ListedJobs) -> list[str]:
    lines = [
        line
        for job in answer.jobs
        for line in (_outline(job), *([f"{'':>8}Last: {job.last}"] if job.last else []))
    ]
    return lines or ["There are no jobs."]


def _show(answer: ShownJob) -> list[str]:
    return [
        _outline(answer),
        f"Next: {answer.coming}",
        "",
        *(f"> {line}" for line in answer.does.splitlines()),
        "",
        *answer.ways,
        "",
        *([f"Last runs ({answer.zone}):", *answer.runs] if answer.runs else ["No runs."]),
    ]


def _describe_act(verb: str, answer: ChangedJob) -> list[str]:
    lines = [f"Job {answer.id} ({answer.title}) is {CHANGES[verb][1]}."]
    if verb in ("resume", "restore", "undo"):
        lines.append(f"Next: {answer.coming}.")
    if answer.note:
        lines.append(answer.note)
    if verb == "webhook":
        lines.append(f"A POST request to this address starts it:\n{answer.address}")
        lines.append("Keep it secret. It isn't shown again; this command makes a new one.")
    return lines


def _describe_made(answer: JobOutline) -> list[str]:
    return [f"Made: {_outline(answer).strip()}", *_describe_ways(answer)]


def _describe_changed(answer: ChangedJob) -> list[str]:
    return [f"Changed: {_outline(answer).strip()}", *_describe_ways(answer)]


def _describe_ways(answer: JobOutline) -> list[str]:
    return [f"Next: {answer.coming}", *answer.ways]


def _preview(answer: JobPreview) -> list[str]:
    lines = [*_describe_ways(answer), ""]
    if answer.is_sample:
        lines += ["It hasn't run yet; this shows what a result would look like.", ""]
    for platform in answer.platforms:
        messages = platform.messages
        for number, message in enumerate(messages, start=1):
            count = f" {number} of {len(messages)}" if len(messages) > 1 else ""
            lines += [f"--- {platform.name}{count} ---", message, ""]
        lines += [f"--- {platform.name}, {_show_file(file)} ---\n" for file in platform.files]
    return lines[:-1]


def _show_file(file: ResultFile) -> str:
    return f"file {file.name} ({file.media_type}, {file.size:,} bytes)"


_VERBS: Mapping[str, tuple[type[Any], type[Any], Callable[[Any], list[str]]]] = {
    "list": (ListJobs, ListedJobs, _list),
    "show": (PickJob, ShownJob, _show),
    "add": (AddJob, JobOutline, _describe_made),
    "change": (ChangeJob, ChangedJob, _describe_changed),
    "preview": (PickJob, JobPreview, _preview),
    "webhook": (PickJob, ChangedJob, partial(_describe_act, "webhook")),
}
"""The types of what each verb asks and gets, and what shows it; the others act on a job."""


def _outline(job: JobOutline) -> str:
    whose = job.person or "the deployment"
    room = f" in {job.room}" if job.room else ""
    state = f"{job.state} ({job.reason})" if job.reason else job.state
    coming = ""
    if job.state == "active" and job.next_at is not None:
        from agent_core.schedule.descriptions import show_moment  # after the first line

        coming = f", next {show_moment(job.next_at, find_zone(job.zone))}"
    return (
        f"{job.id:>6}  {whose + room:<16} {job.kind:<7} {state}{coming}"
        f"  {job.title}: {job.meaning} ({job.zone})"
    )
