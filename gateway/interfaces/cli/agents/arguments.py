"""The arguments of `talaria agents`, which `--help` and the completions need."""

import argparse
from collections.abc import Mapping

from gateway.home import find_home
from gateway.interfaces.parser import Parser

_HEADS = {
    "list": "Agents of {home}:",
    "check": "Checking the agents of {home} ...",
    "add": "Adding an agent to {home} ...",
    "show": "Reading the agents of {home} ...",
}


def configure(parser: Parser) -> None:
    """Add the verbs; the default is `list`."""
    parser.examples = ("talaria agents add coder", "talaria agents list")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB")
    verbs.add_parser(
        "list", help="list the agents with their descriptions, models and tags (the default)"
    )
    add = verbs.add_parser(
        "add", help="create the two files of a new agent", examples=["talaria agents add coder"]
    )
    add.add_argument("name", metavar="NAME", help="letters, digits and hyphens")
    show = verbs.add_parser(
        "show", help="show what an agent may use", examples=["talaria agents show coder"]
    )
    show.add_argument("name", metavar="NAME", help="the name of its folder")
    verbs.add_parser("check", help="check the files of all agents; 1 if one can't be used")


def announce(arguments: argparse.Namespace, environ: Mapping[str, str]) -> str:
    """Return a line that says what the command does."""
    return _HEADS[arguments.verb or "list"].format(home=find_home(environ))
