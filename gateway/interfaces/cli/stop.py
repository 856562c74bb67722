"""`talaria stop`: lets the running gateway finish what it stores, and end."""

import argparse
import time
from collections.abc import Mapping

from gateway.errors import StartError
from gateway.home import find_home
from gateway.interfaces.client import NoGateway, ask_to_stop, is_served
from gateway.interfaces.parser import Parser
from gateway.interfaces.waiting import showing

_PATIENCE = 60.0
"""Seconds for an orderly stop, which takes up to 45."""
_LOOK = 0.1


def configure(parser: Parser) -> None:
    """Add no argument."""
    parser.examples = ("talaria stop",)
    parser.epilog = (
        "A service starts again with the machine; `talaria service remove` ends that. In Docker,"
        " stop the container instead."
    )


def run(_: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Stop the gateway, and wait for its end. Raises `StartError` if it goes on."""
    home = find_home(environ)
    try:
        ask_to_stop(home)
    except NoGateway:
        print(f"Talaria is not running for {home}.")
        return 0
    end = time.monotonic() + _PATIENCE
    with showing("Stopping"):
        while is_served(home):
            if time.monotonic() > end:
                raise StartError(
                    f"Talaria still runs after {_PATIENCE:g} s. `talaria logs` shows what it does."
                )
            time.sleep(_LOOK)
    print("Stopped. Nothing is lost.")
    return 0
