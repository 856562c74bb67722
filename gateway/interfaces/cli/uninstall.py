"""`talaria uninstall`: removes the service and, after a typed word, the data."""

import argparse
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from gateway.errors import StartError
from gateway.home import CONFIG_NAME, DATABASE, ENV_NAME, find_home
from gateway.interfaces.client import is_served
from gateway.interfaces.installation import find_own_installation
from gateway.interfaces.parser import Parser

_WORD = "delete"
_SIGNS = (DATABASE, CONFIG_NAME, ENV_NAME)
"""Files by which a folder is known to be a home."""


def configure(parser: Parser) -> None:
    """Add no argument."""
    parser.examples = ("talaria uninstall",)
    parser.epilog = (
        "Asks before each step; Enter keeps everything. Without a terminal, it only says what there"
        " is. docs/uninstall.md lists what stays at the services you connected."
    )


def run(_: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Ask what to remove, and remove it. Raises `StartError` and `Declined`."""
    home = find_home(environ)
    is_home = any((home / name).exists() for name in _SIGNS)
    is_asked = sys.stdin.isatty() and sys.stdout.isatty()
    _remove_service(home, environ, is_asked=is_asked)
    if is_home and is_asked:
        _remove_data(home)
    elif is_home:
        print(f"Your data is in {home}. On a terminal, this command offers to delete it.")
    else:
        print(f"There is no data in {home}.")
    found = find_own_installation()
    print(f"\nTalaria was installed with {found.kind}. This removes the program:\n")
    print("\n".join(f"  {line}" for line in found.remove))
    return 0


def _remove_service(home: Path, environ: Mapping[str, str], *, is_asked: bool) -> None:
    from gateway.interfaces.cli.service.command import find_manager, remove
    from gateway.interfaces.dialogue import confirm

    try:
        manager = find_manager(home, environ)
    except StartError:  # a machine without a service manager has no service
        return
    if not manager.path.exists() or not manager.is_ours():
        return
    if is_asked and confirm("Stop Talaria and remove its service?", default=False):
        remove(manager)
    else:
        print(f"The service {manager.path} stays. `talaria service remove` removes it.")


def _remove_data(home: Path) -> None:
    from gateway.interfaces.dialogue import ask

    if is_served(home):
        print("Talaria is running, so its data stays. `talaria stop` stops it.")
        return
    print(f"Your conversations, memory, settings, keys and backups are in {home}.")
    if ask(f"To delete all of them, type {_WORD}; Enter keeps them") != _WORD:
        print("Your data stays.")
        return
    try:
        shutil.rmtree(home)
    except OSError as error:
        raise StartError(f"{error.filename} can't be deleted: {error.strerror}.") from error
    print("Your data is deleted.")
