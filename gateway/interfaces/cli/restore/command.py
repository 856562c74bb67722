"""The command: says what it reads, and restores it."""

import argparse
from collections.abc import Mapping
from pathlib import Path

from gateway.errors import Mistaken
from gateway.interfaces.cli import restore


def run(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Rehearse or restore. Raises `Mistaken` and `StoreError`; the home is then as it was."""
    if arguments.file.startswith("s3://"):
        print(f"Downloading {arguments.file} ...", flush=True)
        return restore.restore_home(arguments, environ)
    backup = Path(arguments.file).expanduser().absolute()
    if backup.is_dir():
        raise Mistaken(f"{backup} is a folder; name the file of a backup in it.")
    if not backup.is_file():
        raise Mistaken(f"There is no file {backup}.")
    print(f"Reading {backup} ...", flush=True)
    return restore.restore_home(arguments, environ)
