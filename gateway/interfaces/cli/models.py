"""`talaria models`: lists the configured models and those of this machine, updates the prices."""

import argparse
import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime

from gateway.errors import Declined
from gateway.home import MODEL_TABLE, expand
from gateway.interfaces.cli.setup import local_arguments
from gateway.interfaces.parser import Parser
from gateway.interfaces.waiting import read_settings

_SECONDS = 60.0
_MOST_BYTES = 50_000_000
"""Most bytes to download; the complete table has about 3 MB."""


def configure(parser: Parser) -> None:
    """Add the verbs."""
    parser.examples = ("talaria models list", "talaria models update")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    verbs.add_parser("list", help="list the configured models with their prices")
    local = verbs.add_parser("local", help="list, download and choose models of this machine")
    local_arguments.configure(local)
    update = verbs.add_parser(
        "update",
        help="get the newest prices; the next start uses them",
        examples=["talaria models update", "talaria models update --from ~/prices.json"],
    )
    update.add_argument(
        "--from",
        dest="source",
        metavar="URL",
        help="another copy of the table: an address or a file",
    )


def run(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """List the models, or replace the price table of the home directory. Raises `Declined`."""
    if arguments.verb == "local":
        from gateway.interfaces.cli.setup import local_models

        return local_models.run(arguments, environ)
    if arguments.verb == "list":
        print("The configured models, with their prices:", flush=True)
        return list_prices(environ)
    print("Getting the newest prices ...", flush=True)
    return update_prices(environ, arguments.source or "")


def list_prices(environ: Mapping[str, str]) -> int:
    """Print a line for each model, and the date of the price table."""
    from gateway.texts.models import describe_price

    settings = read_settings(environ)
    for name in settings.model.named:
        print(f"{name}: {describe_price(settings.prices.find(name))}")
    print(f"Price table of {settings.prices.table.as_of}.")
    return 0


def update_prices(environ: Mapping[str, str], source: str) -> int:
    """Fetch or read the complete price table, and write a reduced copy into the home.

    `source` is an address or a path; "" is the usual address. Raises `Declined`.
    """
    import aiohttp

    from agent_core.models.catalog import SOURCE, load_table, reduce_table

    home = read_settings(environ).home
    try:
        source = source or SOURCE
        is_file = "://" not in source
        whole = expand(source).read_bytes() if is_file else asyncio.run(_fetch(source))
        reduced = reduce_table(whole, datetime.now(UTC).date())
    except (OSError, TimeoutError, ValueError, aiohttp.ClientError) as error:
        fault = getattr(error, "strerror", None) or str(error) or "there was no answer in time"
        raise Declined(f"The prices were not updated from {source}: {fault}.") from error
    target = home / MODEL_TABLE
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fresh = target.with_suffix(".new")
    fresh.write_bytes(reduced)
    fresh.replace(target)
    count = len(load_table(target).models)
    print(f"{count} prices were written to {target}. Restart Talaria to use them.")
    return 0


async def _fetch(source: str) -> bytes:
    import aiohttp

    timeout = aiohttp.ClientTimeout(total=_SECONDS)
    async with (
        aiohttp.ClientSession(timeout=timeout, trust_env=True) as session,
        session.get(source) as response,
    ):
        response.raise_for_status()
        whole = await response.content.read(_MOST_BYTES)
        while len(whole) < _MOST_BYTES and (more := await response.content.read(_MOST_BYTES)):
            whole += more
    return whole
