"""`talaria version`: shows the versions to quote in a bug report."""

import argparse
import platform
from collections.abc import Mapping
from importlib.metadata import version

from gateway.interfaces.parser import Parser


def configure(parser: Parser) -> None:
    """Add no argument."""
    parser.examples = ("talaria version",)


def run(_: argparse.Namespace, __: Mapping[str, str]) -> int:
    """Print one line."""
    python, system = platform.python_version(), platform.system()
    print(f"talaria {version('talaria')} (Python {python}, {system})")
    return 0
