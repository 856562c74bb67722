"""`talaria logins`: lists and ends browsers' logins to the console page."""

import argparse
from collections.abc import Mapping
from datetime import datetime

from gateway.home import open_home
from gateway.interfaces import client
from gateway.interfaces.parser import Parser


def configure(parser: Parser) -> None:
    """Add the verbs."""
    parser.examples = ("talaria logins list", "talaria logins end")
    parser.default_verb = "list"
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    verbs.add_parser("list", help="list the browsers that are logged in (the default)")
    verbs.add_parser("end", help="log all browsers out")


def run(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Run the verb in the running gateway or on its database, and print the result."""
    home = open_home(environ)
    if arguments.verb == "end":
        ended = client.perform(home, "logins.end", {})["ended"]
        print(f"{ended} logged out. `talaria console` gives a link that logs in again.")
    else:
        logins = client.perform(home, "logins.list", {})["logins"]
        rows = [
            f"{one['folder'] or 'printed address'}: since {_show(one['created_at'])},"
            f" until {_show(one['expires_at'])}"
            for one in logins
        ]
        print("\n".join(rows) or "No browser is logged in.")
    return 0


def _show(moment: int) -> str:
    """Format milliseconds UTC in the time zone of this machine."""
    return datetime.fromtimestamp(moment / 1000).astimezone().strftime("%Y-%m-%d %H:%M")
