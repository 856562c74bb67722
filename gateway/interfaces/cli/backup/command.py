"""The command: refuses what can't be done, and packs the backup."""

import argparse
from collections.abc import Mapping

from gateway import config
from gateway.errors import Mistaken
from gateway.interfaces.cli import backup
from gateway.interfaces.operations import require_database


def run(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Write the backup and read it again. Raises `Mistaken` instead of overwriting a file."""
    target = arguments.file.expanduser().absolute() if arguments.file else None
    if target and target.exists():
        raise Mistaken(f"{target} exists already; name a new file.")
    home = config.open_home(environ)
    require_database(home)
    print(f"Backing up {home} ...", flush=True)
    return backup.pack(arguments, environ, target)
