"""`talaria doctor`: checks everything, asks the services too, and applies safe fixes."""

import argparse
from collections.abc import Mapping

from gateway.errors import StartError
from gateway.interfaces.diagnostics.report import Report
from gateway.interfaces.diagnostics.runtime import examine_python
from gateway.interfaces.parser import Parser
from gateway.interfaces.waiting import read_settings


def configure(parser: Parser) -> None:
    """Add `--fix` and `--json`."""
    parser.examples = ("talaria doctor", "talaria doctor --fix")
    parser.add_argument("--fix", action="store_true", help="apply the fixes that are safe")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Print the findings; return 0 without a fault, else 2. Raises `StartError`."""
    report = Report(as_json=arguments.json)
    report.add([examine_python()])
    from gateway.interfaces.diagnostics import offline
    from gateway.interfaces.doctor import repairs
    from gateway.interfaces.doctor.live import examine_live

    settings = read_settings(environ)
    try:
        done = repairs.repair(settings) if arguments.fix else []
    except OSError as error:
        raise StartError(f"{error.filename} can't be changed: {error.strerror}.") from error
    if done and not arguments.json:
        print("\n".join(done), flush=True)
    report.add(offline.examine(settings))
    report.add(examine_live(settings))
    return report.end(done)
