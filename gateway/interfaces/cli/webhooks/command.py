"""`talaria webhooks`: performs a verb, and prints the result."""

import argparse
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from gateway.home import open_home
from gateway.interfaces import client
from gateway.interfaces.client import is_served
from gateway.interfaces.waiting import load_settings

_PATIENCE, _LOOK = 20.0, 0.2
"""Seconds to wait for a receiver, which has 15 to answer, and seconds between two checks."""


def run(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Run the verb in the running gateway or on its database, and print the result."""
    home, verb = open_home(environ), arguments.verb or "list"
    answer = client.perform(
        home, f"webhooks.{verb}", vars(arguments), load_settings=partial(load_settings, environ)
    )
    if verb == "test":
        print(_show_test(home, arguments.number, answer["delivery"]["id"]))
    else:
        print("\n".join(_LINES[verb](answer)))
    return 0


def _show_test(home: Path, number: int, delivery: int) -> str:
    """Wait for the result of a test event. Without a gateway, its next start sends the event."""
    end = time.monotonic() + _PATIENCE
    while is_served(home) and time.monotonic() < end:
        asked = {"number": number, "limit": 1, "before": delivery + 1}
        (found,) = client.ask(home, "webhooks.deliveries", asked)["deliveries"]
        if found["state"] == "sent":
            return f"The receiver accepted it (status {found['status']})."
        if found["reason"]:
            return f"It failed: {found['reason']}. Talaria tries again."
        time.sleep(_LOOK)
    return "It is sent as soon as Talaria runs and comes to it."


def _list(answer: Mapping[str, Any]) -> list[str]:
    lines = []
    for one in answer["webhooks"]:
        state = one["state"] + (f", because {one['reason']}" if one["reason"] else "")
        waiting = f", {one['waiting']} waiting" if one["waiting"] else ""
        lines.append(
            f"{one['number']:>4}  {one['folder']}: {one['name']} ({state}{waiting}) sends"
            f" {', '.join(one['kinds'])} to {one['url']}"
        )
    return lines or ["There are no webhooks; `talaria webhooks add --help` shows how to add one."]


def _added(answer: Mapping[str, Any]) -> list[str]:
    kinds = ", ".join(answer["kinds"])
    return [
        f"Webhook {answer['number']}, {answer['name']}, sends {kinds} to {answer['url']}.",
        "Its signing secret:",
        "",
        f"  {answer['secret']}",
        "",
        "Copy it now: it isn't shown again.",
        f"`talaria webhooks test {answer['number']}` sends a test event.",
    ]


def _rotated(answer: Mapping[str, Any]) -> list[str]:
    return [
        f"The new signing secret of {answer['name']}:",
        "",
        f"  {answer['secret']}",
        "",
        "Copy it now: it isn't shown again.",
        f"The old one signs, too, until {_write_time(answer['old_until'])}.",
    ]


def _list_deliveries(answer: Mapping[str, Any]) -> list[str]:
    lines = [
        f"{one['id']:>6}  {_write_time(one['created_at'])}  {one['kind']:<15} {_describe(one)}"
        for one in answer["deliveries"]
    ]
    return lines or ["Nothing was sent yet."]


def _describe(one: Mapping[str, Any]) -> str:
    attempts = f"{one['attempts']} attempt{'s' if one['attempts'] != 1 else ''}"
    reason = f": {one['reason']}" if one["reason"] else ""
    coming = ""
    if one["state"] == "waiting" and one["attempts"]:
        coming = f", next {_write_time(one['due_at'])}"
    return f"{one['state']}, {attempts}{coming}{reason}"


def _write_time(moment: int) -> str:
    return f"{datetime.fromtimestamp(moment / 1000, UTC).astimezone():%Y-%m-%d %H:%M:%S}"


_LINES: Mapping[str, Callable[[Mapping[str, Any]], list[str]]] = {
    "list": _list,
    "add": _added,
    "pause": lambda one: [f"Paused: {one['name']}. Its events wait until it is resumed."],
    "resume": lambda one: [f"Resumed: {one['name']}."],
    "change": lambda one: [f"Changed: webhook {one['number']}."],
    "rotate": _rotated,
    "remove": lambda one: [
        f"Removed: {one['name']}. `talaria webhooks restore {one['number']}` brings it back."
    ],
    "restore": lambda one: [f"Restored: {one['name']}. It sends what happens from now on."],
    "deliveries": _list_deliveries,
    "redeliver": lambda one: [f"Delivery {one['delivery']} is sent again, with the same id."],
}
