"""`talaria logins`: lists and ends browsers' logins to the console page."""

import argparse
from collections.abc import Mapping
from datetime import datetime

from gateway.home import open_home
from gateway.interfaces import client
from gateway.interfaces.parser import Parser
from gateway.operations.login_types import EndedLogins, OpenLogins
from gateway.operations.people_types import Nothing


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
        done = client.perform_typed(home, "logins.end", Nothing(), EndedLogins)
        print(f"{done.ended} logged out. `talaria console` gives a link that logs in again.")
    else:
        listed = client.perform_typed(home, "logins.list", Nothing(), OpenLogins)
        rows = [
            f"{one.folder or 'printed address'}: since {_show(one.created_at)},"
            f" until {_show(one.expires_at)}"
            for one in listed.logins
        ]
        print("\n".join(rows) or "No browser is logged in.")
    return 0


def _show(moment: int) -> str:
    """Format milliseconds UTC in the time zone of this machine."""
    return datetime.fromtimestamp(moment / 1000).astimezone().strftime("%Y-%m-%d %H:%M")
