"""`talaria console`: makes a one-time link to a person's console pages."""

import argparse
from collections.abc import Mapping
from functools import partial

from gateway.home import open_home
from gateway.interfaces import client
from gateway.interfaces.client import require_database
from gateway.interfaces.parser import Parser
from gateway.interfaces.waiting import load_settings
from gateway.operations.login_types import LinkFor, LoginLink


def configure(parser: Parser) -> None:
    """Add the person."""
    parser.examples = ("talaria console", "talaria console --person ada")
    parser.add_argument(
        "--person",
        metavar="SLUG",
        default="",
        help="folder name of the person, from `talaria people list` (default: the owner)",
    )


def run(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Make the link in the running gateway or on its database, and print it."""
    home = open_home(environ)
    require_database(home)
    print("Making a link to the console ...", flush=True)
    made = client.perform_typed(
        home,
        "logins.link",
        LinkFor(person=arguments.person),
        LoginLink,
        load_settings=partial(load_settings, environ),
    )
    print(f"The pages of {made.folder}:\n")
    print(f"  {made.link}\n")
    print(f"You can use the link once, within {made.minutes} minutes, while `talaria run` runs.")
    return 0
