"""The command: says what it does, and reads the folder of the agents."""

import argparse
from collections.abc import Mapping

from gateway import config
from gateway.interfaces.cli import agents

_HEADS = {
    "list": "Agents of {home}:",
    "check": "Checking the agents of {home} ...",
    "add": "Adding an agent to {home} ...",
    "show": "Reading the agents of {home} ...",
}


def run(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Say what follows, and do it. Raises `Declined`, `StartError`."""
    home = config.find_home(environ)
    print(_HEADS[arguments.verb or "list"].format(home=home), flush=True)
    return agents.work(arguments, environ)
