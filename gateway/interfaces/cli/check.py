"""`talaria check`: checks the installation without changing it, or asks the running gateway."""

import argparse
import json
from collections.abc import Mapping
from pathlib import Path

from gateway.errors import StartError
from gateway.home import open_home
from gateway.interfaces.client import NoGateway, fetch_health
from gateway.interfaces.diagnostics.report import Report
from gateway.interfaces.diagnostics.runtime import examine_python
from gateway.interfaces.parser import Parser
from gateway.interfaces.waiting import read_settings

_PATIENCE = 4.0
"""Seconds for a health report; the container's health check gives up after five seconds."""
_DONE, _FAILED = 0, 1


def configure(parser: Parser) -> None:
    """Add `--live` and `--json`."""
    parser.examples = ("talaria check", "talaria check --live --json")
    parser.add_argument("--live", action="store_true", help="ask the running gateway")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Print the findings; return 0 without a fault, else 2. With `--live`, 0 if healthy, else 1."""
    if arguments.live:
        return _ask_live(open_home(environ), as_json=arguments.json)
    report = Report(as_json=arguments.json)
    report.add([examine_python()])
    from gateway.interfaces.diagnostics import offline

    report.add(offline.examine(read_settings(environ)))
    return report.end()


def _ask_live(home: Path, *, as_json: bool) -> int:
    try:
        is_well, report = fetch_health(home, timeout=_PATIENCE)
    except (NoGateway, StartError) as error:
        is_well, report = False, {"status": "failing", "problems": [str(error)]}
    if as_json:
        print(json.dumps(report))
    else:
        print(
            "; ".join(report["problems"]) or f"Healthy. Up for {report['uptime_seconds']:,.0f} s."
        )
    return _DONE if is_well else _FAILED
