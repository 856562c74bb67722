"""`talaria people`: who may talk, a new claim code, and letting somebody in."""

import argparse
from collections.abc import Mapping
from typing import Any

from gateway import settings
from gateway.control.desk import perform
from gateway.words import WORDS

SUMMARY = WORDS["people"]


def configure(parser: argparse.ArgumentParser) -> None:
    """Add `list`, `claim` and `approve`."""
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    verbs.add_parser("list", help="who may talk, with their accounts")
    verbs.add_parser("claim", help="a new code that makes an account the owner's")
    approve = verbs.add_parser("approve", help="let in whoever was shown a pairing code")
    approve.add_argument("code", metavar="CODE")


def run(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Do it here or in the running gateway, and print what came of it."""
    asked = {"code": arguments.code} if arguments.verb == "approve" else {}
    answer = perform(settings.load(environ).home, f"people.{arguments.verb}", asked)
    if arguments.verb == "claim":
        print(
            f"{answer['code']}\nSend  /claim {answer['code']}  to the bot, in a direct message."
            " It works once, within 24 hours; earlier codes no longer do."
        )
    elif arguments.verb == "approve":
        print(f"{answer['name']} may talk now.")
    else:
        print("\n".join(map(_describe, answer["people"])) or "Nobody yet.")
    return 0


def _describe(person: Mapping[str, Any]) -> str:
    accounts = ", ".join(person["accounts"]) or "no account"
    return f"{person['name']} ({person['role']}): {accounts}; memory in people/{person['folder']}"
