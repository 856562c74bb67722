"""`talaria backup`: copies the database to a file, even while a gateway uses it."""

import argparse
from collections.abc import Mapping
from pathlib import Path

from gateway.config import load
from gateway.errors import Declined
from gateway.interfaces.operations.runner import perform
from gateway.interfaces.parser import Parser

_PATIENCE = 3600.0
"""Seconds; a database of many gigabytes takes minutes to copy and check."""


def configure(parser: Parser) -> None:
    """Add the name of the copy."""
    parser.examples = ("talaria backup ~/talaria-2026-11-22.db",)
    parser.add_argument("file", metavar="FILE", type=Path, help="the copy; must not exist yet")


def run(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Copy the database. Raises `Declined` instead of overwriting a file."""
    target = arguments.file.expanduser().absolute()
    if target.exists():
        raise Declined(f"{target} exists already; name a new file.")
    home = load(environ).home
    perform(home, "backup", {"target": str(target)}, timeout=_PATIENCE)
    print(f"The database was copied to {target} ({target.stat().st_size:,} bytes).")
    return 0
