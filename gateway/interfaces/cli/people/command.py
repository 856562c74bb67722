"""`talaria people`: lists people, lets them in, and exports or erases their data."""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gateway.errors import Declined
from gateway.home import open_home
from gateway.interfaces import client
from gateway.texts.privacy import describe_remains

_LONG = 3600.0
"""Seconds for an export or an erasure, which reads all of a person's data."""


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
