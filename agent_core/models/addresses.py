"""Find where the API of a model server lies, if nothing does at its address."""

import asyncio
import re
from collections.abc import Mapping, Sequence

import aiohttp

from agent_core.errors import ModelMisplaced
from agent_core.models.http import parse_json, read_body

_SECONDS = 5.0
_SHOWN = 200
_LARGEST = 1_000_000
"""Bytes of an answer that are read; a refusal is shorter."""
_MISSING = (404, 405, 501)
_NOTHING = re.compile(
    r"not found|cannot (?:get|post)|no (?:such )?(?:route|endpoint|path)\b|unexpected endpoint"
    r"|invalid (?:url|path|endpoint)|unknown (?:url|path|endpoint|route)|method not allowed|<html"
    r"|<!doctype|error code: \d+\W*$"
)
_ANYWHERE = re.compile(r"unexpected endpoint|<html|<!doctype")
"""Words of servers that give status 200 even where nothing lies: LM Studio, and web pages."""


def is_nothing_there(status: int, said: str) -> bool:
    """True if an answer is about the address, and not about a model."""
    lowered = said.lower()
    if _ANYWHERE.search(lowered):
        return True
    if status not in _MISSING or "model" in lowered:
        return False
    return not lowered.strip() or _NOTHING.search(lowered) is not None


async def has_api(url: str, headers: Mapping[str, str]) -> bool:
    """Return whether an API takes calls at a URL: an empty call is free, and refused as such."""
    timeout = aiohttp.ClientTimeout(total=_SECONDS)
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout, trust_env=True) as session,
            session.post(url, headers=headers, json={}) as response,
        ):
            text = (await read_body(response, _LARGEST)).decode(errors="replace")
            found = parse_json(text)
            return isinstance(found, dict) and not is_nothing_there(response.status, text)
    except (aiohttp.ClientError, OSError, TimeoutError, ValueError):
        return False


async def explain_nothing(
    address: str, others: Sequence[str], route: str, headers: Mapping[str, str], said: str = ""
) -> ModelMisplaced:
    """Return the error that says that nothing lies at an address, and where an API does.

    `said` is what the server says there.
    """
    found = await asyncio.gather(*(has_api(f"{one}{route}", headers) for one in others))
    there = next((one for one, is_there in zip(others, found, strict=True) if is_there), None)
    if there is None:
        first = said.strip().splitlines()[0][:_SHOWN] if said.strip() else ""
        words = f" It says: {first}" if first else ""
        return ModelMisplaced(f"Nothing lies at {address}: no model server answers there.{words}")
    return ModelMisplaced(f"Nothing lies at {address}, but a model server answers at {there}.")
