"""`talaria status`: says whether Talaria runs, since when, and what it waits for."""

import argparse
import time
from collections.abc import Mapping

from gateway.home import find_home
from gateway.interfaces.cli.top import draw
from gateway.interfaces.client import NoGateway, ask_typed, fetch_health
from gateway.interfaces.parser import Parser
from gateway.operations.turn_types import ListTurns, TurnList

_PATIENCE = 4.0
"""Seconds to wait for an answer; an event loop that is busy for longer has a fault."""
_NEWEST = 200
_DONE, _STOPPED = 0, 1


def configure(parser: Parser) -> None:
    """Add no argument."""
    parser.examples = ("talaria status",)
    parser.epilog = "Exits with 0 while Talaria runs, and with 1 while it is stopped."


def run(_: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Print the state. Raises `StartError` if the gateway does not answer."""
    home = find_home(environ)
    try:
        is_well, report = fetch_health(home, timeout=_PATIENCE)
        asked = ListTurns(limit=_NEWEST)
        listed = ask_typed(home, "turns.list", asked, TurnList, timeout=_PATIENCE)
    except NoGateway:
        print(f"Talaria is not running for {home}.")
        print("`talaria run` starts it here, and `talaria service install` keeps it running.")
        return _STOPPED
    print("\n".join(draw(report, listed, time.time())))
    print(f"\nThe home is {home}. `talaria stop` stops Talaria.")
    if not is_well:
        print("`talaria doctor` says how to mend what is wrong.")
    return _DONE
