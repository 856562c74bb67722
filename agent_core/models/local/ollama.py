"""Download a model with Ollama's API."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass

import aiohttp

from agent_core.errors import CoreError
from agent_core.models.http import parse_json
from agent_core.models.local.search import open_session

_SILENCE = 300.0
"""Seconds without any line after which a download has failed."""


class PullFailed(CoreError):
    """A model was not downloaded; the message is a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PullProgress:
    """The progress of a download. `total` is 0 while nobody knows how much there is."""

    step: str
    done: int = 0
    total: int = 0


async def pull(root: str, name: str) -> AsyncGenerator[PullProgress, None]:
    """Download a model, and yield how far it is; ends when the model is there.

    `root` is the server's address without `/v1`. Closing the iterator stops the download; the next
    one goes on from there. Raises `PullFailed`.
    """
    is_done = False
    try:
        async with (
            open_session(None) as session,
            session.post(
                f"{root}/api/pull", json={"model": name, "stream": True}, allow_redirects=False
            ) as answer,
        ):
            while not is_done:
                async with asyncio.timeout(_SILENCE):
                    line = await answer.content.readline()
                if not line:
                    break
                told = parse_json(line)
                if "error" in told:
                    raise PullFailed(f"Ollama can't download {name}: {told['error']}.")
                is_done = told.get("status") == "success"
                yield PullProgress(
                    step=str(told.get("status", "")),
                    done=int(told.get("completed") or 0),
                    total=int(told.get("total") or 0),
                )
    except TimeoutError as error:
        raise PullFailed(f"Ollama said nothing more about {name}.") from error
    except (aiohttp.ClientError, OSError) as error:
        raise PullFailed(f"The connection to Ollama broke off ({type(error).__name__}).") from error
    except (ValueError, TypeError, AttributeError) as error:
        raise PullFailed("Ollama's answer can't be read.") from error
    if not is_done:
        raise PullFailed(f"Ollama ended the download of {name} before it was whole.")
