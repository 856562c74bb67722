"""Lists the configured models with their prices."""

from collections.abc import Mapping

from gateway.interfaces.waiting import read_settings
from gateway.texts.models import describe_price


def list_prices(environ: Mapping[str, str]) -> int:
    """Print a line for each model, and the date of the price table."""
    settings = read_settings(environ)
    for name in settings.model.named:
        print(f"{name}: {describe_price(settings.prices.find(name))}")
    print(f"Price table of {settings.prices.table.as_of}.")
    return 0
