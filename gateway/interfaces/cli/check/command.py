"""`talaria check`: checks the installation without changing it, or asks the running gateway."""

import argparse
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from gateway.errors import StartError
from gateway.interfaces.diagnostics import describe, examine
from gateway.interfaces.operations.client import NoGateway, fetch_health
from gateway.interfaces.waiting import read_settings

_PATIENCE = 4.0
"""Seconds for a health report; the container's health check gives up after five."""
_DONE, _FAILED, _WRONG = 0, 1, 2


def run(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Print the findings; return 0 without a fault, else 2. With `--live`, 0 if healthy, else 1."""
    found = read_settings(environ)
    if arguments.live:
        return _ask_live(found.home, as_json=arguments.json)
    findings = examine(found)
    is_well = all(finding.state != "fault" for finding in findings)
    if arguments.json:
        print(json.dumps({"ok": is_well, "findings": [asdict(one) for one in findings]}))
    else:
        print("\n".join(describe(findings)))
    return _DONE if is_well else _WRONG


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
