"""Lists the models that a key may use, newest first."""

from collections.abc import Mapping
from typing import Any

import aiohttp

from agent_core.models.http import parse_json, read_body
from agent_core.models.settings import AnthropicSettings, OpenAISettings

_SECONDS = 5.0
_VERSION = "2026-10-21"
"""The version of Anthropic's API."""


async def list_models(settings: AnthropicSettings | OpenAISettings) -> tuple[str, ...]:
    """Return the names of a provider's models; empty if it does not tell them."""
    base = settings.base_url.rstrip("/")
    headers = {"Authorization": f"Bearer {settings.api_key}"} if settings.api_key else {}
    if isinstance(settings, AnthropicSettings):
        base, headers = f"{base}/v1", {**headers, "anthropic-version": _VERSION}
    try:
        async with (
            aiohttp.ClientSession(
                timeout=aiohttp.ClientTimeout(total=_SECONDS), trust_env=True
            ) as session,
            session.get(f"{base}/models", headers=headers) as response,
        ):
            found = parse_json(await read_body(response)) if response.status == 200 else None
    except (aiohttp.ClientError, OSError, TimeoutError, ValueError):
        return ()
    data = found.get("data") if isinstance(found, dict) else None
    listed = [one for one in data if isinstance(one, dict)] if isinstance(data, list) else []
    listed.sort(key=_tell_age, reverse=True)
    return tuple(one["id"] for one in listed if isinstance(one.get("id"), str))


def _tell_age(entry: Mapping[str, Any]) -> str:
    """Return what sorts a model by its age: Anthropic tells a date, others seconds."""
    made = entry.get("created_at") or entry.get("created") or ""
    return f"{made:020}" if isinstance(made, int) else str(made)
