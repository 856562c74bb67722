"""`talaria upgrade`: backs up, and upgrades Talaria the way it was installed."""

import argparse
import shlex
import subprocess
import sys
from collections.abc import Mapping

from gateway.errors import Declined
from gateway.home import DATABASE, find_home
from gateway.interfaces.installation import find_own_installation
from gateway.interfaces.parser import Parser


def configure(parser: Parser) -> None:
    """Add no argument."""
    parser.examples = ("talaria upgrade",)
    parser.epilog = "Shows the commands first. On a terminal, it offers to run them."


def run(_: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Show the commands, and run them after a yes. Raises `Declined` if one fails."""
    from gateway.interfaces.dialogue import confirm

    found, home = find_own_installation(), find_home(environ)
    here = f"{shlex.quote(sys.executable)} -m gateway"
    saving = (f"{here} backup",) if (home / DATABASE).exists() and found.is_here else ()
    lines = (*saving, *found.upgrade)
    print(f"Talaria was installed with {found.kind}. These commands upgrade it:")
    if found.note:
        print(found.note)
    print("".join(f"\n  {line}" for line in lines))
    print("\nThen restart it: `talaria stop` and `talaria run`, or `talaria service install`.")
    is_asked = sys.stdin.isatty() and sys.stdout.isatty() and found.is_here
    if not is_asked or not confirm("Run them now?", default=False):
        return 0
    for line in lines:
        print(f"\n{line}", flush=True)
        if subprocess.run(shlex.split(line), check=False).returncode:  # noqa: S603 - our own words
            raise Declined(f"`{line}` failed, so the rest was left out. Your data is unchanged.")
    print("\nUpgraded. Restart Talaria to use it.")
    return 0
