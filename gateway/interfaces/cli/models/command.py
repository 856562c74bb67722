"""`talaria models`: lists the configured models with their prices, and updates the price table."""

import argparse
from collections.abc import Mapping

from gateway.interfaces.cli import models
from gateway.interfaces.waiting import read_settings
from gateway.texts.models import describe_price


def run(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """List the models, or replace the price table of the home directory. Raises `Declined`."""
    settings = read_settings(environ)
    if arguments.verb == "list":
        for name in settings.model.named:
            print(f"{name}: {describe_price(settings.prices.find(name))}")
        print(f"Price table of {settings.prices.table.as_of}.")
        return 0
    return models.update_prices(settings.home, arguments.source or "")
