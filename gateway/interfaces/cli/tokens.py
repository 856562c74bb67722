"""`talaria tokens`: makes, lists and revokes the tokens of people's other programs."""

import argparse
from collections.abc import Mapping
from datetime import UTC, datetime

from gateway.home import open_home
from gateway.interfaces import client
from gateway.interfaces.parser import Parser
from gateway.operations.tokens_types import (
    CreateToken,
    ListedToken,
    ListedTokens,
    ListTokens,
    MadeToken,
    RevokedToken,
    RevokeToken,
)
from gateway.operations.wire import load_known


def configure(parser: Parser) -> None:
    """Add the verbs."""
    parser.examples = ("talaria tokens create laptop --person ada", "talaria tokens list")
    parser.default_verb = "list"
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    create = verbs.add_parser(
        "create",
        help="make a token with which a program acts for a person",
        examples=[
            "talaria tokens create laptop --person ada",
            "talaria tokens create scripts --person ada --scope api",
        ],
    )
    create.add_argument("name", metavar="NAME", help="where you use it, such as laptop")
    create.add_argument(
        "--person",
        metavar="SLUG",
        required=True,
        help="folder name of the person it acts for, from `talaria people list`",
    )
    create.add_argument(
        "--scope",
        choices=["mcp", "api", "manage"],
        default="mcp",
        help="what it opens: tools over MCP, the API to ask and read, or all of it (default: mcp)",
    )
    verbs.add_parser("list", help="list the tokens, without their secrets (the default)")
    revoke = verbs.add_parser(
        "revoke", help="end a token at once", examples=["talaria tokens revoke 2"]
    )
    revoke.add_argument(
        "number", metavar="NUMBER", type=_read_number, help="from `talaria tokens list`"
    )


def run(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Run the verb in the running gateway or on its database, and print the result."""
    home = open_home(environ)
    if arguments.verb == "create":
        asked = load_known(CreateToken, vars(arguments))
        made = client.perform_typed(home, "tokens.create", asked, MadeToken)
        print(f"Token {made.number}, {made.name}, acts for {made.folder}:\n")
        print(f"  {made.secret}\n")
        print("Copy it now: it isn't shown again. `talaria tokens revoke` ends it.")
    elif arguments.verb == "revoke":
        wish = RevokeToken(number=arguments.number)
        done = client.perform_typed(home, "tokens.revoke", wish, RevokedToken)
        print(f"Revoked: {done.name} of {done.folder}.")
    else:
        listed = client.perform_typed(home, "tokens.list", ListTokens(), ListedTokens)
        print("\n".join(map(_describe, listed.tokens)) or "There are no tokens.")
    return 0


def _describe(one: ListedToken) -> str:
    used = f"last used {_day(one.used_at)}" if one.used_at else "never used"
    made = f"made {_day(one.created_at)}"
    return f"{one.number:>4}  {one.folder}: {one.name} ({one.scope}, {made}, {used})"


def _day(moment: int) -> str:
    return f"{datetime.fromtimestamp(moment / 1000, UTC).astimezone():%Y-%m-%d}"


def _read_number(text: str) -> int:
    if text.isdecimal() and len(text) < 16:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is not the number of a token")
