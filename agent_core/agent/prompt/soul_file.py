"""Read SOUL.md, the identity of the assistant, and create it on the first start."""

import asyncio
import logging
import os
from pathlib import Path

from agent_core.agent.prompt.persona import DEFAULT_SOUL
from agent_core.memory.files import ABSENT, read_file

_log = logging.getLogger(__name__)

SOUL_LIMIT = 20_000
"""Characters that enter the prompt."""


async def ensure_soul(home: Path) -> str:
    """The identity in `home`/SOUL.md; creates the file if it is missing.

    An unreadable file falls back to the default identity. Raises `OSError` if the file can't be
    created.
    """
    return await asyncio.to_thread(_ensure, home / "SOUL.md")


def _ensure(path: Path) -> str:
    try:
        seen = read_file(path)
    except OSError as error:
        _log.warning("%s can't be read, the default identity is used: %s", path, error)
        return DEFAULT_SOUL.strip()
    if seen == ABSENT:
        _write_first(path)
    text = seen.text.replace("\r\n", "\n")
    if len(text) > SOUL_LIMIT:
        _log.warning("%s is cut at %d characters", path, SOUL_LIMIT)
        text = text[:SOUL_LIMIT]
    return text.strip() or DEFAULT_SOUL.strip()


def _write_first(path: Path) -> None:
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(DEFAULT_SOUL)
            file.flush()
            os.fsync(file.fileno())
    except FileExistsError:
        raise
    except OSError:
        path.unlink(missing_ok=True)  # half a file would look like the person's own
        raise
