"""The arguments of `talaria restore`, which `--help` and the completions need."""

import argparse
from collections.abc import Mapping

from gateway.errors import Mistaken
from gateway.interfaces.parser import Parser, read_path


def configure(parser: Parser) -> None:
    """Add the file, the key and the rehearsal."""
    parser.examples = (
        "talaria restore ~/talaria-2026-11-26.tar.gz --check",
        "talaria restore ~/talaria-2026-11-26.tar.gz",
        "talaria restore ~/talaria.tar.gz.age --identity ~/key.txt",
        "talaria restore s3://bucket/nightly-20261126T033000Z.tar.gz.age",
    )
    parser.add_argument("file", metavar="FILE", help="the backup: a file, or s3://BUCKET/NAME")
    parser.add_argument(
        "--check", action="store_true", help="only rehearse it: unpack and check, change nothing"
    )
    parser.add_argument(
        "--identity",
        metavar="KEYFILE",
        type=read_path,
        help="the private key that opens the backup",
    )


def announce(arguments: argparse.Namespace, _: Mapping[str, str]) -> str:
    """Return a line that says what the command does. Raises `Mistaken` if there is no such file."""
    if arguments.file.startswith("s3://"):
        return f"Downloading {arguments.file} ..."
    backup = read_path(arguments.file)
    if backup.is_dir():
        raise Mistaken(f"{backup} is a folder; name the file of a backup in it.")
    if not backup.is_file():
        raise Mistaken(
            f"There is no file {backup}; the nightly backups are in `backups/` of the home."
        )
    return f"Reading {backup} ..."
