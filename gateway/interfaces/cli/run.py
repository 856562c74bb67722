"""`talaria run`: starts the gateway and serves until a signal asks it to stop."""

import argparse
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

from gateway.home import CONFIG_NAME, DATABASE, ENV_NAME
from gateway.interfaces.parser import Parser

if TYPE_CHECKING:
    from gateway.app.settings import Settings


def configure(parser: Parser) -> None:
    """Add no argument: `config.toml` and the environment hold all settings."""
    parser.examples = ("talaria run", "TALARIA_HTTP__PORT=8080 talaria run")
    parser.epilog = "Settings: config.toml in the home, and TALARIA_<TABLE>__<KEY>."


def run(_: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Serve; offer the setup first if nothing is set up.

    Raises `StartError`, `StoreError`, `Broken` and `Declined`.
    """
    from gateway.app.settings import load
    from gateway.interfaces.cli.setup import command
    from gateway.interfaces.cli.setup.hello import wait_for_hello
    from gateway.interfaces.cli.setup.local_models import use_local
    from gateway.interfaces.foreground import serve

    given = dict(environ)  # `load` wipes the process's own keys
    found = load(environ)
    if _is_new(found) and sys.stdin.isatty() and sys.stdout.isatty() and command.offer(given):
        serve(load(given), wait_for_hello)
    else:
        serve(use_local(found, given))
    return 0


def _is_new(found: "Settings") -> bool:
    """True if nothing is set up: there is no file in the home, no key and no token."""
    secrets = found.secrets
    is_used = any((found.home / name).exists() for name in (CONFIG_NAME, ENV_NAME, DATABASE))
    return not is_used and found.model.provider == "scripted" and not secrets.platforms
