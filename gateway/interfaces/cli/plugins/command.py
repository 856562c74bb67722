"""The command: says what it lists, and lists it."""

import argparse
from collections.abc import Mapping

from gateway import config
from gateway.interfaces.cli import plugins


def run(_: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """List every plug-in; those that are enabled are loaded. Raises `StartError`."""
    print(f"Plug-ins that are installed, or in {config.find_home(environ)}:", flush=True)
    return plugins.list_plugins(environ)
