"""The arguments of `talaria import`, which `--help` and the completions need."""

import argparse
from collections.abc import Mapping

from gateway.interfaces.parser import Parser, read_path

HERMES, OPENCLAW = "hermes", "openclaw"


def configure(parser: Parser) -> None:
    """Add the assistant, its home directory, and the options."""
    parser.examples = (
        "talaria import hermes ~/.hermes --dry-run",
        "talaria import hermes ~/.hermes",
        "talaria import openclaw ~/.openclaw --tokens",
    )
    parser.add_argument(
        "assistant", metavar="ASSISTANT", choices=(HERMES, OPENCLAW), help="hermes or openclaw"
    )
    parser.add_argument("folder", metavar="DIR", type=read_path, help="its home, such as ~/.hermes")
    parser.add_argument("--dry-run", action="store_true", help="only show what would be imported")
    parser.add_argument("--person", metavar="SLUG", help="whom it is for; the owner by default")
    parser.add_argument(
        "--tokens", action="store_true", help="put tokens of chat apps into .env without asking"
    )


def announce(arguments: argparse.Namespace, _: Mapping[str, str]) -> str:
    """Return a line that says what the command does."""
    return f"Reading {arguments.folder} ..."
