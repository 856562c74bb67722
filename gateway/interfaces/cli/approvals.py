"""`talaria approvals`: lists and revokes permissions of tools to act without a question."""

import argparse
from collections.abc import Mapping
from datetime import UTC, datetime

from gateway.home import open_home
from gateway.interfaces import client
from gateway.interfaces.parser import Parser
from gateway.operations.approval_types import (
    ListedApproval,
    ListedApprovals,
    RevokeApproval,
    RevokedApproval,
)
from gateway.operations.people_types import Nothing


def configure(parser: Parser) -> None:
    """Add the verbs; the default is `list`."""
    parser.examples = ("talaria approvals list", "talaria approvals revoke 7")
    parser.default_verb = "list"
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    verbs.add_parser("list", help="list what tools may do without a question (the default)")
    revoke = verbs.add_parser(
        "revoke", help="ask again before such calls", examples=["talaria approvals revoke 7"]
    )
    revoke.add_argument(
        "number", metavar="NUMBER", type=_read_number, help="from `talaria approvals list`"
    )


def run(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Run the verb in the running gateway or on its database, and print the result."""
    home = open_home(environ)
    if arguments.verb == "revoke":
        asked = RevokeApproval(number=arguments.number)
        done = client.perform_typed(home, "approvals.revoke", asked, RevokedApproval)
        print(f"Revoked: {done.shape}. {done.folder} is asked again.")
        return 0
    listed = client.perform_typed(home, "approvals.list", Nothing(), ListedApprovals)
    print("\n".join(map(_describe, listed.approvals)) or "Nothing is allowed in advance.")
    return 0


def _describe(one: ListedApproval) -> str:
    scope = "always" if one.scope == "always" else "for one session"
    since = datetime.fromtimestamp(one.at / 1000, UTC).astimezone()
    return f"{one.number:>4}  {one.folder}: {one.shape} ({scope}, since {since:%Y-%m-%d})"


def _read_number(text: str) -> int:
    if text.isdecimal() and len(text) < 16:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is not the number of an approval")
