"""`talaria models`: lists models with what is known of them, and updates the prices."""

import argparse
import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from agent_core.errors import StoreError
from agent_core.models.http import read_body
from gateway.errors import Declined, StartError
from gateway.home import DATABASE, MODEL_TABLE, expand, open_home
from gateway.interfaces import client
from gateway.interfaces.cli.setup import local_arguments
from gateway.interfaces.parser import Parser
from gateway.interfaces.waiting import read_settings
from gateway.operations.model_types import KnownModel, KnownModels, ListModels, PickModel

_SECONDS = 60.0
_MOST_BYTES = 50_000_000
"""Most bytes to download; the complete table has about 3 MB."""


def configure(parser: Parser) -> None:
    """Add the verbs; the default is `list`."""
    parser.examples = ("talaria models", "talaria models update")
    parser.default_verb = "list"
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    verbs.add_parser("list", help="list the models with their prices and what was learned of them")
    forget = verbs.add_parser(
        "forget",
        help="forget what was learned of a model",
        examples=["talaria models forget qwen3:8b"],
    )
    forget.add_argument("name", metavar="NAME", help="the model, as `talaria models` lists it")
    tested = verbs.add_parser(
        "test",
        help="try with small tasks what a model is fit for",
        examples=["talaria models test", "talaria models test qwen3:8b"],
    )
    tested.add_argument(
        "name", metavar="NAME", nargs="?", default="", help="the model; without one, the main one"
    )
    trusted = verbs.add_parser(
        "trust",
        help="let a model review and write skills without a passed test",
        examples=["talaria models trust qwen3:8b"],
    )
    trusted.add_argument("name", metavar="NAME", help="the model")
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
    """List the models, forget one, or replace the home's price table. Raises `Declined`."""
    if arguments.verb == "local":
        from gateway.interfaces.cli.setup import local_models

        return local_models.run(arguments, environ)
    if arguments.verb in ("test", "trust"):
        from gateway.interfaces import model_test

        do = model_test.test if arguments.verb == "test" else model_test.trust
        return do(environ, arguments.name)
    if arguments.verb == "forget":
        return _forget(environ, arguments.name)
    if arguments.verb == "list":
        print("The configured models, with their prices:", flush=True)
        return list_prices(environ)
    print("Getting the newest prices ...", flush=True)
    return update_prices(environ, arguments.source or "")


def list_prices(environ: Mapping[str, str]) -> int:
    """Print each model with its price and what is known of it, and the date of the prices."""
    from agent_core.models.router import split_name
    from gateway.texts.model_facts import describe_known
    from gateway.texts.models import describe_price

    settings = read_settings(environ)
    prices = settings.prices
    known = _list_known(settings.home)
    changed = _list_changed(settings.home) if any(map(_has_card, known)) else []
    for name in settings.model.named:
        price = describe_price(prices.find(name), is_free=prices.is_free(name))
        print(f"{name}: {price}")
        for one in [one for one in known if one.model == split_name(name)[1]]:
            print("\n".join((f"  At {one.server}:", *describe_known(one))))
            if one in changed:
                print("    The card is of older files of this model: run `talaria models test`.")
            known.remove(one)
    if known:
        print("Known of other models:")
    for one in known:
        print("\n".join((f"{one.model}, at {one.server}:", *describe_known(one))))
    print(f"Price table of {settings.prices.table.as_of}.")
    return 0


def _list_known(home: Path) -> list[KnownModel]:
    """List what is known of models; what can't be read now is said."""
    if not (home / DATABASE).exists():
        return []
    try:
        found = client.perform_typed(home, "models.known", ListModels(), KnownModels)
    except (StartError, Declined, StoreError) as error:
        print(f"What was learned of models can't be read now: {error}")
        return []
    return list(found.models)


def _has_card(known: KnownModel) -> bool:
    return any(fact.kind == "card" for fact in known.facts)


def _list_changed(home: Path) -> list[KnownModel]:
    """List the models of this machine whose files have changed since their test."""
    try:
        found = client.perform_typed(home, "fitness.changed", ListModels(), KnownModels)
    except (StartError, Declined, StoreError):
        return []  # said with what is known
    return list(found.models)


def _forget(environ: Mapping[str, str], name: str) -> int:
    from gateway.texts.model_facts import describe_known

    asked = PickModel(name=name)
    done = client.perform_typed(open_home(environ), "models.forget", asked, KnownModels)
    for one in done.models:
        print("\n".join((f"Forgotten of {one.model}, at {one.server}:", *describe_known(one))))
    print("It is tried afresh with the next message.")
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
        return await read_body(response, _MOST_BYTES)
