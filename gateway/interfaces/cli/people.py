"""`talaria people`: lists people, lets them in, and exports or erases their data."""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gateway.errors import Declined
from gateway.home import open_home
from gateway.interfaces import client
from gateway.interfaces.parser import Parser, read_path
from gateway.texts.privacy import describe_remains

_LONG = 3600.0
"""Seconds for an export or an erasure, which reads all of a person's data."""


def configure(parser: Parser) -> None:
    """Add the verbs."""
    parser.examples = ("talaria people list", "talaria people claim")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    verbs.add_parser("list", help="list people with their accounts")
    verbs.add_parser("claim", help="make a code that turns an account into the owner's")
    approve = verbs.add_parser(
        "approve",
        help="let in the person with a pairing code",
        examples=["talaria people approve K7QD2M"],
    )
    approve.add_argument("code", metavar="CODE", help="the code that the bot gave them")
    export = verbs.add_parser(
        "export",
        help="export a person's data to a new zip archive",
        examples=["talaria people export ada ~/ada.zip"],
    )
    erase = verbs.add_parser(
        "erase",
        help="permanently delete a person's data",
        examples=["talaria people erase ada", "talaria people erase ada --yes"],
    )
    for verb in (export, erase):
        verb.add_argument("slug", metavar="SLUG", help="the person's folder name, from `list`")
    export.add_argument(
        "file", metavar="FILE", type=read_path, help="the archive; must not exist yet"
    )
    erase.add_argument("--yes", action="store_true", help="ask nothing")


def run(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Run the verb in the running gateway or on its database, and print the result."""
    home = open_home(environ)
    verb = arguments.verb
    if verb == "claim":
        answer = client.perform(home, "people.claim", {})
        print(
            f"{answer['code']}\nSend  /claim {answer['code']}  to the bot, in a direct message."
            f" On Slack, send  /talaria claim {answer['code']}  instead."
            " It works once, within 24 hours. Earlier codes are invalid now."
        )
    elif verb == "approve":
        answer = client.perform(home, "people.approve", {"code": arguments.code})
        print(f"{answer['name']} can talk to Talaria now.")
    elif verb == "export":
        asked = {"slug": arguments.slug, "target": str(arguments.file)}
        answer = client.perform(home, "people.export", asked, timeout=_LONG)
        print(f"Written to {answer['target']}.")
    elif verb == "erase":
        _erase(home, arguments.slug, is_asked=not arguments.yes)
    else:
        listed = client.perform(home, "people.list", {})["people"]
        print("\n".join(map(_describe, listed)) or "Nobody yet.")
    return 0


def _erase(home: Path, slug: str, *, is_asked: bool) -> None:
    """Erase a person after confirmation. Raises `Declined` if the typed name differs."""
    if is_asked:
        found = client.perform(home, "people.look", {"slug": slug})
        print(
            f"This permanently deletes all data of {found['name']}:"
            " conversations, memory, archive, files and accounts."
        )
        if input(f"Type {slug} to continue: ").strip() != slug:
            raise Declined("No data was deleted.")
    done = client.perform(home, "people.erase", {"slug": slug}, timeout=_LONG)
    print(f"{done['name']} is erased. {describe_remains(done['backups'], done['outside'])}")


def _describe(person: Mapping[str, Any]) -> str:
    accounts = ", ".join(person["accounts"]) or "no account"
    return f"{person['name']} ({person['role']}): {accounts}; memory in people/{person['folder']}"
