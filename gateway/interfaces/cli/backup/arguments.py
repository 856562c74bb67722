"""The arguments of `talaria backup`, which `--help` and the completions need."""

import argparse
from collections.abc import Mapping

from gateway.errors import Mistaken
from gateway.home import open_home
from gateway.interfaces.client import require_database
from gateway.interfaces.parser import Parser, read_path


def configure(parser: Parser) -> None:
    """Add the arguments for the file, its encryption and its content."""
    parser.examples = (
        "talaria backup",
        "talaria backup ~/talaria-2026-11-26.tar.gz",
        "talaria backup ~/talaria.tar.gz.age --passphrase",
        "talaria backup ~/talaria.tar.gz.age --recipient age1...",
    )
    parser.add_argument(
        "file",
        metavar="FILE",
        nargs="?",
        type=read_path,
        help="the backup, which must not exist yet; without it, where nightly ones go, but kept",
    )
    parser.add_argument(
        "--passphrase", action="store_true", help="ask for a passphrase, and encrypt with it"
    )
    parser.add_argument(
        "--recipient",
        action="append",
        default=[],
        metavar="KEY",
        help="encrypt for a public key of age or SSH; may be repeated",
    )
    parser.add_argument(
        "--secrets",
        action="store_true",
        help="put keys and tokens into a backup that is not encrypted, too",
    )


def announce(arguments: argparse.Namespace, environ: Mapping[str, str]) -> str:
    """Return a line that says what the command does.

    Raises `Mistaken` instead of overwriting a file, and `StartError`.
    """
    if arguments.file and arguments.file.exists():
        raise Mistaken(f"{arguments.file} exists already; name a new file.")
    home = open_home(environ)
    require_database(home)
    return f"Backing up {home} ..."
