"""`talaria rooms`: lists groups and channels, and changes how one is answered."""

import argparse
from collections.abc import Mapping
from typing import get_args

from gateway.home import open_home
from gateway.interfaces import client
from gateway.interfaces.parser import Parser
from gateway.operations.room_types import ChangeRoom, ChosenMode, ListRooms, RoomLine, RoomList


def configure(parser: Parser) -> None:
    """Add the verbs; the default is `list`."""
    parser.examples = ("talaria rooms list", "talaria rooms set 3 off")
    parser.default_verb = "list"
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    verbs.add_parser("list", help="list groups, and how each is answered (the default)")
    answer = verbs.add_parser(
        "set",
        help="choose how a group is answered",
        examples=["talaria rooms set 3 room", "talaria rooms set 3 off"],
    )
    name = verbs.add_parser(
        "name",
        help="name a group for the assistant, or take the name back",
        examples=["talaria rooms name 3 Kitchen", "talaria rooms name 3"],
    )
    for verb in (answer, name):
        verb.add_argument("number", metavar="NUMBER", type=int, help="from `talaria rooms list`")
    answer.add_argument(
        "mode",
        metavar="MODE",
        choices=get_args(ChosenMode),
        help="person: a conversation for each; room: one for all; off: no answers",
    )
    name.add_argument("name", metavar="NAME", nargs="?", default="", help="none takes it back")


def run(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Run the verb in the running gateway or on its database, and print the result."""
    home = open_home(environ)
    if arguments.verb in ("set", "name"):
        asked = ChangeRoom(
            number=arguments.number,
            mode=arguments.mode if arguments.verb == "set" else None,
            name=arguments.name if arguments.verb == "name" else None,
        )
        print(_describe(client.perform_typed(home, "rooms.change", asked, RoomLine)))
        return 0
    listed = client.perform_typed(home, "rooms.list", ListRooms(), RoomList).rooms
    print("\n".join(map(_describe, listed)) or "No group yet.")
    return 0


def _describe(one: RoomLine) -> str:
    title = f" ({one.title})" if one.title and one.title != one.name else ""
    return f"{one.number:>4}  {one.platform}: {one.name or '-'}{title}: {one.mode}"
