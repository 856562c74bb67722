"""The verb of `talaria secrets`."""

import argparse
from collections.abc import Mapping

from gateway.config import SECRETS_CONFIG
from gateway.interfaces.parser import Parser
from gateway.interfaces.waiting import read_settings


def configure(parser: Parser) -> None:
    """Add the verb."""
    parser.examples = ("talaria secrets list",)
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    verbs.add_parser(
        "list",
        help="list the names of secrets, and who may use which",
        examples=["talaria secrets list"],
    )


def run(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Print the names; no value is ever printed. Raises `SettingsError`."""
    settings = read_settings(environ)
    for one in settings.named_secrets:
        uses = [f"${one.variable} for {', '.join(one.people)}"] if one.people else []
        uses += [f"the MCP servers {', '.join(one.servers)}"] if one.servers else []
        print(f"{one.name}: {'; '.join(uses)}.")
    if not settings.named_secrets:
        print(f"There are no secrets; {settings.home / SECRETS_CONFIG} defines them.")
    return 0
