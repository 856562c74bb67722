"""Finds threads that were archived, with unread messages, while the bot was away.

Discord lists only the active threads of a server. It archives a thread after an hour without
messages at the earliest, so the archived ones are asked for after a longer absence only.
"""

import logging
import time
from collections.abc import AsyncIterator, Iterable, Mapping
from datetime import datetime

from adapters.discord.channel_directory import ChannelDirectory
from adapters.discord.ingest.catchup import LONGEST_PAUSE, OLDEST_IN_ROOMS, Start
from adapters.discord.snowflakes import id_in, snowflake_at
from adapters.errors import AdapterError, AdapterStopped, RateLimited, Unreachable
from adapters.toolkit.connection_health import Backoff
from adapters.toolkit.text import inside, words_in

_log = logging.getLogger(__name__)

SHORTEST_ABSENCE = 3_600_000 << 22
"""An hour, in snowflakes: the shortest `auto_archive_duration` (Discord API, channel resource)."""


async def find_archived(
    directory: ChannelDirectory, parents: Iterable[str], after: int, marks: Mapping[str, str]
) -> dict[str, Start]:
    """Return the archived threads of channels with messages after a snowflake, or their own mark.

    A channel that refuses is left out; one that can't be reached is asked again. Raises
    `AdapterStopped`.
    """
    starts: dict[str, Start] = {}
    for parent in parents:
        backoff = Backoff(LONGEST_PAUSE)
        while True:
            try:
                async for channel, newest in _list_archived(directory, parent, after):
                    begin = max(after, int(marks.get(channel, 0)))
                    if newest > begin:
                        starts[channel] = Start(after=str(begin), has_mark=channel in marks)
            except (Unreachable, RateLimited) as error:
                await backoff.wait(error)
            except AdapterStopped:
                raise
            except (AdapterError, ValueError) as error:
                _log.info("archived threads of %s on Discord are skipped: %s", parent, error)
                break
            else:
                break
    return starts


async def _list_archived(
    directory: ChannelDirectory, parent: str, after: int
) -> AsyncIterator[tuple[str, int]]:
    """Yield the threads that were archived after a snowflake, the last one first, each with the id
    of its newest message.
    """
    oldest = max(after, snowflake_at(time.time() - OLDEST_IN_ROOMS))
    async for page in directory.archived_threads(parent):
        for thread in page:
            try:
                facts = inside(thread, "thread_metadata")
                archived = datetime.fromisoformat(words_in(facts, "archive_timestamp"))
                if snowflake_at(archived.timestamp()) < oldest:
                    return
                if thread.get("last_message_id"):
                    yield id_in(thread, "id"), int(id_in(thread, "last_message_id"))
            except (ValueError, OverflowError):
                _log.warning("an archived thread of %s on Discord can't be read", parent)
