"""The arguments of `talaria plugins`, which `--help` and the completions need."""

import argparse
from collections.abc import Mapping

from gateway.home import find_home
from gateway.interfaces.parser import Parser


def configure(parser: Parser) -> None:
    """Add the verbs."""
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    verbs.add_parser("list", help="list plug-ins with what they add; 1 if one is broken")
    parser.examples = ("talaria plugins list",)


def announce(_: argparse.Namespace, environ: Mapping[str, str]) -> str:
    """Return a line that says what the command does."""
    return f"Plug-ins that are installed, or in {find_home(environ)}:"
