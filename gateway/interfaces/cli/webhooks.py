"""`talaria webhooks`: adds, tests and lists outgoing webhooks."""

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
from gateway.interfaces.parser import Parser
from gateway.interfaces.waiting import load_settings
from gateway.operations.webhook_types import (
    AddedWebhook,
    AddWebhook,
    ChangedWebhook,
    ChangeWebhook,
    DeliveryLine,
    DeliveryList,
    ListDeliveries,
    ListWebhooks,
    PickWebhook,
    ResumeWebhook,
    RotatedWebhook,
    SendAgain,
    SendTest,
    SentAgain,
    SentTest,
    WebhookList,
)
from gateway.operations.wire import load_known

_CHANGES = {
    "test": "send a test event, and show the answer",
    "pause": "send nothing until it is resumed; events wait",
    "resume": "send what waits, and everything new",
    "rotate": "make a new signing secret; the old one is valid for 24 hours more",
    "remove": "remove a webhook; `restore` brings it back",
    "restore": "bring a removed webhook back, from now on",
}

_PATIENCE, _LOOK = 20.0, 0.2
"""Seconds to wait for a receiver, which has 15 to answer, and seconds between two checks."""


def configure(parser: Parser) -> None:
    """Add the verbs; the default is `list`."""
    parser.examples = ("talaria webhooks", "talaria webhooks test 1")
    parser.default_verb = "list"
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    listing = verbs.add_parser("list", help="list the webhooks (the default)")
    listing.add_argument("--person", metavar="SLUG", help="one person's only")
    _configure_adding(
        verbs.add_parser(
            "add",
            help="send a person's events to an address",
            examples=[
                "talaria webhooks add all --person ada --url https://example.org/talaria",
                "talaria webhooks add end --person ada --url https://a.example --events turn.ended",
            ],
        )
    )
    changes = {
        name: verbs.add_parser(name, help=what, examples=[f"talaria webhooks {name} 1"])
        for name, what in _CHANGES.items()
    }
    changes["resume"].add_argument(
        "--from-now", dest="skip", action="store_true", help="drop the events that wait"
    )
    changed = verbs.add_parser(
        "change",
        help="change its name, its address or its events",
        examples=["talaria webhooks change 1 --url https://example.org/new"],
    )
    changed.add_argument("--name", metavar="NAME", help="what it is for")
    changed.add_argument("--url", metavar="URL", help="the address that gets POST requests")
    _add_events(changed, "(default: as before)")
    sent = verbs.add_parser(
        "deliveries",
        help="list the newest events of a webhook, and what became of each",
        examples=["talaria webhooks deliveries 1", "talaria webhooks deliveries 1 --limit 100"],
    )
    sent.add_argument(
        "--limit", metavar="N", type=_read_number, default=20, help="how many (default: 20)"
    )
    again = verbs.add_parser(
        "redeliver", help="send an event again", examples=["talaria webhooks redeliver 1 7"]
    )
    for one in (*changes.values(), changed, sent, again):
        one.add_argument(
            "number", metavar="NUMBER", type=_read_number, help="from `talaria webhooks list`"
        )
    again.add_argument(
        "delivery", metavar="DELIVERY", type=_read_number, help="from `talaria webhooks deliveries`"
    )


def _configure_adding(add: Parser) -> None:
    add.add_argument("name", metavar="NAME", help="what it is for, such as automation")
    add.add_argument(
        "--person",
        metavar="SLUG",
        required=True,
        help="folder name of the person, from `talaria people list`",
    )
    add.add_argument(
        "--url", metavar="URL", required=True, help="the address that gets POST requests"
    )
    _add_events(add, "(default: all)")


def _add_events(parser: Parser, default: str) -> None:
    parser.add_argument(
        "--events",
        dest="kinds",
        metavar="KIND",
        nargs="+",
        default=[],
        help=f"turn.started, turn.ended, memory.changed or question.asked {default}",
    )


def _read_number(text: str) -> int:
    if text.isdecimal() and 0 < len(text) < 16:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is not a number from the list")


def run(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Run the verb in the running gateway or on its database, and print the result."""
    home, verb = open_home(environ), arguments.verb
    kind, answer, describe = _VERBS[verb]
    done = client.perform_typed(
        home,
        f"webhooks.{verb}",
        load_known(kind, vars(arguments)),
        answer,
        load_settings=partial(load_settings, environ),
    )
    if isinstance(done, SentTest):
        assert done.delivery is not None  # noqa: S101 - without a key, each test is new
        print(_show_test(home, arguments.number, done.delivery.id))
    else:
        print("\n".join(describe(done)))
    return 0


def _show_test(home: Path, number: int, delivery: int) -> str:
    """Wait for the result of a test event. Without a gateway, its next start sends the event."""
    end = time.monotonic() + _PATIENCE
    while is_served(home) and time.monotonic() < end:
        asked = ListDeliveries(number=number, limit=1, before=delivery + 1)
        (found,) = client.perform_typed(home, "webhooks.deliveries", asked, DeliveryList).deliveries
        if found.state == "sent":
            return f"The receiver accepted it (status {found.status})."
        if found.reason:
            return f"It failed: {found.reason}. Talaria tries again."
        time.sleep(_LOOK)
    return "It is sent as soon as Talaria runs and comes to it."


def _list(answer: WebhookList) -> list[str]:
    lines = []
    for one in answer.webhooks:
        state = one.state + (f", because {one.reason}" if one.reason else "")
        waiting = f", {one.waiting} waiting" if one.waiting else ""
        lines.append(
            f"{one.number:>4}  {one.folder}: {one.name} ({state}{waiting}) sends"
            f" {', '.join(one.kinds)} to {one.url}"
        )
    return lines or ["There are no webhooks; `talaria webhooks add --help` shows how to add one."]


def _added(answer: AddedWebhook) -> list[str]:
    kinds = ", ".join(answer.kinds)
    return [
        f"Webhook {answer.number}, {answer.name}, sends {kinds} to {answer.url}.",
        "Its signing secret:",
        "",
        f"  {answer.secret}",
        "",
        "Copy it now: it isn't shown again.",
        f"`talaria webhooks test {answer.number}` sends a test event.",
    ]


def _rotated(answer: RotatedWebhook) -> list[str]:
    return [
        f"The new signing secret of {answer.name}:",
        "",
        f"  {answer.secret}",
        "",
        "Copy it now: it isn't shown again.",
        f"The old one signs, too, until {_write_time(answer.old_until)}.",
    ]


def _list_deliveries(answer: DeliveryList) -> list[str]:
    lines = [
        f"{one.id:>6}  {_write_time(one.created_at)}  {one.kind:<15} {_describe(one)}"
        for one in answer.deliveries
    ]
    return lines or ["Nothing has been sent yet."]


def _describe(one: DeliveryLine) -> str:
    attempts = f"{one.attempts} attempt{'s' if one.attempts != 1 else ''}"
    reason = f": {one.reason}" if one.reason else ""
    coming = ""
    if one.state == "waiting" and one.attempts:
        coming = f", next {_write_time(one.due_at)}"
    return f"{one.state}, {attempts}{coming}{reason}"


def _write_time(moment: int) -> str:
    return f"{datetime.fromtimestamp(moment / 1000, UTC).astimezone():%Y-%m-%d %H:%M:%S}"


_VERBS: Mapping[str, tuple[Any, Any, Callable[[Any], list[str]]]] = {
    "list": (ListWebhooks, WebhookList, _list),
    "add": (AddWebhook, AddedWebhook, _added),
    "test": (SendTest, SentTest, lambda _: []),
    "pause": (
        PickWebhook,
        ChangedWebhook,
        lambda one: [f"Paused: {one.name}. Its events wait until it is resumed."],
    ),
    "resume": (ResumeWebhook, ChangedWebhook, lambda one: [f"Resumed: {one.name}."]),
    "change": (ChangeWebhook, ChangedWebhook, lambda one: [f"Changed: webhook {one.number}."]),
    "rotate": (PickWebhook, RotatedWebhook, _rotated),
    "remove": (
        PickWebhook,
        ChangedWebhook,
        lambda one: [
            f"Removed: {one.name}. `talaria webhooks restore {one.number}` brings it back."
        ],
    ),
    "restore": (
        PickWebhook,
        ChangedWebhook,
        lambda one: [f"Restored: {one.name}. It sends what happens from now on."],
    ),
    "deliveries": (ListDeliveries, DeliveryList, _list_deliveries),
    "redeliver": (
        SendAgain,
        SentAgain,
        lambda one: [f"Delivery {one.delivery} is sent again, with the same id."],
    ),
}
"""The request, the answer and its lines, by verb."""
