"""The command of the doctor: its options and its report."""

import argparse
import json
from collections.abc import Mapping
from dataclasses import asdict

from gateway.errors import StartError
from gateway.interfaces.diagnostics import describe, examine
from gateway.interfaces.doctor import examine_live, repair
from gateway.interfaces.waiting import read_settings

_DONE, _WRONG = 0, 2


def run(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Print the findings; return 0 without a fault, else 2. Raises `StartError`."""
    found = read_settings(environ)
    try:
        done = repair(found) if arguments.fix else []
    except OSError as error:
        raise StartError(f"{error.filename} can't be changed: {error.strerror}.") from error
    findings = [*examine(found), *examine_live(found)]
    faults = [one for one in findings if one.state == "fault"]
    if arguments.json:
        report = {"ok": not faults, "fixed": done, "findings": [asdict(one) for one in findings]}
        print(json.dumps(report))
    else:
        print("\n".join([*done, *describe(findings)]))
    return _WRONG if faults else _DONE
