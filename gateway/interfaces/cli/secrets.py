"""`talaria secrets`: lists the secrets that tools use by name, never their values."""

import argparse
from collections.abc import Mapping

from gateway.app.env_file import add_saved
from gateway.home import SECRETS_CONFIG, open_home
from gateway.interfaces.parser import Parser


def configure(parser: Parser) -> None:
    """Add the verb."""
    parser.examples = ("talaria secrets list",)
    parser.default_verb = "list"
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    verbs.add_parser("list", help="list the names of secrets, and who may use which (the default)")


def run(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Print the names; no value is ever printed. Raises `SettingsError`."""
    from gateway.app.named_secrets import read_named_secrets

    home = open_home(environ)
    named = read_named_secrets(home, add_saved(environ, home))
    for one in named:
        uses = [f"${one.variable} for {', '.join(one.people)}"] if one.people else []
        uses += [f"the MCP servers {', '.join(one.servers)}"] if one.servers else []
        print(f"{one.name}: {'; '.join(uses)}.")
    if not named:
        print(f"There are no secrets; {home / SECRETS_CONFIG} defines them.")
    return 0
