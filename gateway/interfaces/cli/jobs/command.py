"""`talaria jobs`: lists, changes, adds and previews scheduled jobs."""

import argparse
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from agent_core.schedule.descriptions import show_moment
from agent_core.schedule.wall_clock import find_zone
from gateway.errors import Mistaken
from gateway.home import open_home
from gateway.interfaces import client
from gateway.interfaces.cli.jobs.arguments import ALIASES, CHANGES
from gateway.interfaces.client import require_database
from gateway.interfaces.waiting import load_settings


def run(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Run the verb in the running gateway or on its database, and print the result."""
    home = open_home(environ)
    said = arguments.verb or "list"
    verb = next((name for name, others in ALIASES.items() if said in others), said)
    work = _read_work(arguments) if verb in ("add", "change") else {}
    asked = {**vars(arguments), **work}
    if verb in ("list", "show"):
        require_database(home)
        # This fails before the database is opened.
        print(f"Jobs of {home}:" if verb == "list" else f"Job of {home}:", flush=True)
    answer = client.perform(
        home, f"jobs.{verb}", asked, load_settings=partial(load_settings, environ)
    )
    if verb in CHANGES:
        print(f"Job {answer['id']} ({answer['title']}) is {CHANGES[verb][1]}.")
        if verb in ("resume", "restore", "undo"):
            print(f"Next: {answer['coming']}.")
        if answer.get("note"):
            print(answer["note"])
        if verb == "webhook":
            print(f"A POST request to this address starts it:\n{answer['address']}")
            print("Keep it secret. It isn't shown again; this command makes a new one.")
    else:
        print("\n".join(_LINES[verb](answer)))
    return 0


def _read_work(arguments: argparse.Namespace) -> dict[str, Any]:
    if arguments.script:
        return {"kind": "script", "words": arguments.words}
    if arguments.words:
        raise Mistaken(f"{' '.join(arguments.words)} is no option; put a command after --script.")
    if arguments.message is not None:
        return {"kind": "message", "text": arguments.message}
    return {} if arguments.prompt is None else {"kind": "prompt", "text": arguments.prompt}


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
        zone = find_zone(job["zone"])
        coming = f", next {show_moment(job['next_at'], zone)}"
    return (
        f"{job['id']:>6}  {whose + room:<16} {job['kind']:<7} {state}{coming}"
        f"  {job['title']}: {job['meaning']} ({job['zone']})"
    )
