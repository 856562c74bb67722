"""The command: says what it reads, and imports it."""

import argparse
from collections.abc import Mapping

from gateway.interfaces.cli import imports


def run(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Import, or only show. Raises `StartError` and `Mistaken`; nothing is imported then."""
    folder = arguments.folder.expanduser().absolute()
    print(f"Reading {folder} ...", flush=True)
    return imports.import_home(arguments, environ, folder)
