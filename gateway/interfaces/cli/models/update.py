"""Replaces the price table of a home by a newer table."""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime

import aiohttp

from agent_core.models.catalog import SOURCE, load_table, reduce_table
from gateway.errors import Declined
from gateway.home import MODEL_TABLE, expand
from gateway.interfaces.waiting import read_settings

_SECONDS = 60.0
_MOST_BYTES = 50_000_000
"""Most bytes to download; the complete table has about 3 MB."""


def update_prices(environ: Mapping[str, str], source: str) -> int:
    """Fetch or read the complete price table, and write a reduced copy into the home.

    `source` is an address or a path; "" is the usual address. Raises `Declined`.
    """
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
