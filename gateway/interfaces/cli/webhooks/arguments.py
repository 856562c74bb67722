"""The arguments of `talaria webhooks`, which `--help` and the completions need."""

import argparse

from gateway.interfaces.parser import Parser

_CHANGES = {
    "test": "send a test event, and show the answer",
    "pause": "send nothing until it is resumed; events wait",
    "resume": "send what waits, and everything new",
    "rotate": "make a new signing secret; the old one is valid for 24 hours more",
    "remove": "remove a webhook; `restore` brings it back",
    "restore": "bring a removed webhook back, from now on",
}


def configure(parser: Parser) -> None:
    """Add the verbs; the default is `list`."""
    parser.examples = ("talaria webhooks", "talaria webhooks test 1")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB")
    listing = verbs.add_parser("list", help="list the webhooks (the default)")
    for option in (parser, listing):
        # A verb's default must not override the option given before the verb.
        option.add_argument(
            "--person", metavar="SLUG", default=argparse.SUPPRESS, help="one person's only"
        )
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
