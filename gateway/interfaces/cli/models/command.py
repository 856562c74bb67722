"""The command `talaria models`: lists the models or replaces the price table."""

import argparse
from collections.abc import Mapping


def run(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """List the models, or replace the price table of the home directory. Raises `Declined`."""
    if arguments.verb == "list":
        print("The configured models, with their prices:", flush=True)
        from gateway.interfaces.cli.models.listing import list_prices

        return list_prices(environ)
    print("Getting the newest prices ...", flush=True)
    from gateway.interfaces.cli.models.update import update_prices

    return update_prices(environ, arguments.source or "")
