"""Lets go of what has grown old, in small strokes with pauses between them."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from functools import partial

from agent_core.privacy.erasure.scrub import merge_indexes
from agent_core.state.engine.database import Connection, Database
from agent_core.state.lifecycle import person_data, retention
from agent_core.state.lifecycle.retention import DAY, Kind, Span
from gateway.config import RetentionSettings

_log = logging.getLogger(__name__)

_STROKE = 200
"""Rows that one transaction looks at."""
_PAUSE = 0.05
"""Seconds between two strokes that changed something."""
_FILES = 500
"""Files that are looked at at once."""
_EXPORTS = 1
"""Days that an export is kept after it was sent."""


class Sweeper:
    """Sweeps. A kind whose days are 0 is kept for ever."""

    def __init__(
        self,
        database: Database,
        settings: RetentionSettings,
        *,
        now: Callable[[], int],
        renew: Callable[[], None],
    ) -> None:
        """`renew` lets talks be read afresh, once messages are gone."""
        self._database = database
        self._settings = settings
        self._now = now
        self._renew = renew

    async def work(self) -> str:
        """Sweep once, merge the indexes, and say what went. Raises `StoreError`."""
        swept = await self.sweep()
        await merge_indexes(self._database)
        return ", ".join(f"{number} {kind}" for kind, number in swept.items() if number)

    async def sweep(self) -> Mapping[str, int]:
        """Sweep everything once; how many rows of each kind were let go of. Raises `StoreError`."""
        days: Mapping[Kind, int] = {
            "inbox": self._settings.inbox_days,
            "exports": _EXPORTS,
            "outbox": self._settings.outbox_days,
            "steps": self._settings.steps_days,
            "usage": self._settings.usage_days,
            "messages": self._settings.messages_days,
        }
        swept = {kind: await self._sweep_kind(kind, number) for kind, number in days.items()}
        if swept["messages"]:
            self._renew()
        return swept | {"files": await self._sweep_files()}

    async def _sweep_kind(self, kind: Kind, days: int) -> int:
        if not days:
            return 0
        before = self._now() - days * DAY
        newest = await self._database.read(lambda c: retention.find_newest(c, kind=kind))
        swept = 0
        for after in range(0, newest, _STROKE):
            span = Span(after=after, until=after + _STROKE, before=before)
            if not await self._database.read(partial(retention.has_old, kind=kind, span=span)):
                continue
            work = partial(_STROKES[kind], span=span)
            swept += await self._database.write(f"sweep.{kind}", work)
            await asyncio.sleep(_PAUSE)
        return swept

    async def _sweep_files(self) -> int:
        """Files that are in no message, no turn and no debt any more."""
        if not self._settings.files_days:
            return 0
        before = self._now() - self._settings.files_days * DAY

        def look(connection: Connection, after_key: str) -> tuple[list[str], set[str]]:
            keys = retention.list_old_files(
                connection, after_key=after_key, before=before, limit=_FILES
            )
            return keys, person_data.list_held(connection, keys=keys)

        swept = 0
        keys = [""]
        while keys:
            keys, held = await self._database.browse(partial(look, after_key=keys[-1]))
            gone = [key for key in keys if key not in held]
            if gone:
                work = partial(retention.sweep_files, keys=gone, before=before)
                swept += await self._database.write("sweep.files", work)
                await asyncio.sleep(_PAUSE)
        return swept


def _sweep_exports(connection: Connection, span: Span) -> int:
    return len(retention.sweep_exports(connection, span=span))


_STROKES: Mapping[Kind, Callable[..., int]] = {
    "inbox": retention.sweep_inbox,
    "outbox": retention.sweep_outbox,
    "steps": retention.sweep_steps,
    "usage": retention.sweep_usage,
    "messages": retention.sweep_messages,
    "exports": _sweep_exports,
}
