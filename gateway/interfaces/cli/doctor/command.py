"""The command of the doctor: its options and its report."""

import argparse
from collections.abc import Mapping

from gateway.errors import StartError
from gateway.interfaces import diagnostics, doctor
from gateway.interfaces.waiting import read_settings


def run(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Print the findings; return 0 without a fault, else 2. Raises `StartError`."""
    report = diagnostics.Report(as_json=arguments.json)
    report.add([diagnostics.examine_python()])
    settings = read_settings(environ)
    try:
        done = doctor.repair(settings) if arguments.fix else []
    except OSError as error:
        raise StartError(f"{error.filename} can't be changed: {error.strerror}.") from error
    if done and not arguments.json:
        print("\n".join(done), flush=True)
    report.add(diagnostics.examine(settings))
    report.add(doctor.examine_live(settings))
    return report.end(done)
