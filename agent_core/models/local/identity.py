"""Tell one file of a model from another of the same name, as far as its server tells."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from agent_core.models.local.kinds import MODELS
from agent_core.models.local.search import SECONDS, fetch_json, open_session
from agent_core.models.local.servers import is_loopback

_TAGS = "/api/tags"


async def find_identity(base_url: str, model: str) -> str:
    """Return Ollama's digest of a model, or the size that llama.cpp's server tells; "" for neither.

    Only a server of this machine is asked, which takes a second at most.
    """
    if not is_loopback(base_url):
        return ""
    parts = urlsplit(base_url)
    root = f"{parts.scheme}://{parts.netloc}"
    async with open_session(SECONDS / 2) as session:
        tags = await fetch_json(session, root + _TAGS)
        return read_digest(tags, model) or read_size(
            await fetch_json(session, root + MODELS), model
        )


def read_digest(tags: Any, model: str) -> str:
    """Return the digest of a model in Ollama's list."""
    names = {model, f"{model}:latest"}
    found = (one.get("digest") for one in _list(tags, "models") if one.get("name") in names)
    return next((one for one in found if isinstance(one, str)), "")


def read_size(listed: Any, model: str) -> str:
    """Return the parameters and the bytes of a model in llama.cpp's list."""
    for one in _list(listed, "data"):
        meta = one.get("meta")
        if one.get("id") == model and isinstance(meta, Mapping):
            told = [meta.get(key) for key in ("n_params", "size")]
            return " ".join(str(value) for value in told if isinstance(value, int))
    return ""


def _list(answer: Any, key: str) -> list[Mapping[str, Any]]:
    rows = answer.get(key) if isinstance(answer, Mapping) else None
    return [one for one in rows if isinstance(one, Mapping)] if isinstance(rows, list) else []
