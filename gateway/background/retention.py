"""Deletes expired data in small batches."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from agent_core.privacy.erasure.scrub import merge_indexes
from agent_core.state.engine.database import Connection, Database
from agent_core.state.lifecycle import person_data, retention
from agent_core.state.lifecycle.retention import DAY, RetainedKind, Span
from agent_core.state.webhooks import webhooks

if TYPE_CHECKING:
    from gateway.app.tables import RetentionSettings

_log = logging.getLogger(__name__)

_BATCH = 200
"""Rows that one transaction checks."""
_PAUSE = 0.05
"""Seconds between two batches that deleted something, so that other writers get their turn."""
_FILES = 500
"""Files checked in one batch."""
_EXPORTS = _COPIES = 1
"""Days for which an export, and a copy of an answer, are kept after delivery."""


@dataclass(frozen=True, slots=True)
class Sweeper:
    """Deletes expired rows and files. Data whose days are 0 never expires."""

    database: Database
    settings: "RetentionSettings"
    now: Callable[[], int]
    renew: Callable[[], None]
    """Drops cached conversations after messages were deleted."""

    async def work(self) -> str:
        """Delete once, merge the search indexes, and return a report. Raises `StoreError`."""
        deleted = await self.sweep()
        await merge_indexes(self.database)
        return ", ".join(f"{number} {kind}" for kind, number in deleted.items() if number)

    async def sweep(self) -> Mapping[str, int]:
        """Delete once; return the number of deleted rows by kind. Raises `StoreError`."""
        days: Mapping[RetainedKind, int] = {
            "inbox": self.settings.inbox_days,
            "exports": _EXPORTS,
            "copies": min(_COPIES, self.settings.outbox_days),
            "outbox": self.settings.outbox_days,
            "steps": self.settings.steps_days,
            "usage": self.settings.usage_days,
            "messages": self.settings.messages_days,
            "webhooks": self.settings.webhooks_days,
        }
        deleted = {kind: await self._sweep_kind(kind, number) for kind, number in days.items()}
        if deleted["messages"]:
            self.renew()
        now = self.now()
        secrets = await self.database.write("sweep.secrets", webhooks.drop_old_secrets, now=now)
        return deleted | {"files": await self._sweep_files(), "secrets": secrets}

    async def _sweep_kind(self, kind: RetainedKind, days: int) -> int:
        if not days:
            return 0
        before = self.now() - days * DAY
        newest = await self.database.read(retention.find_newest, kind=kind)
        deleted = 0
        for after in range(0, newest, _BATCH):
            span = Span(after=after, until=after + _BATCH, before=before)
            if not await self.database.read(partial(retention.has_old, kind=kind, span=span)):
                continue
            work = partial(_DELETIONS[kind], span=span)
            deleted += await self.database.write(f"sweep.{kind}", work)
            await asyncio.sleep(_PAUSE)
        return deleted

    async def _sweep_files(self) -> int:
        """Delete files that no message, turn or outbox row refers to."""
        if not self.settings.files_days:
            return 0
        before = self.now() - self.settings.files_days * DAY

        def look(connection: Connection, after_key: str) -> tuple[list[str], set[str]]:
            keys = retention.list_old_files(
                connection, after_key=after_key, before=before, limit=_FILES
            )
            return keys, person_data.list_referenced(connection, keys=keys)

        deleted = 0
        keys = [""]
        while keys:
            keys, held = await self.database.browse(partial(look, after_key=keys[-1]))
            unused = [key for key in keys if key not in held]
            if unused:
                work = partial(retention.sweep_files, keys=unused, before=before)
                deleted += await self.database.write("sweep.files", work)
                await asyncio.sleep(_PAUSE)
        return deleted


def _sweep_exports(connection: Connection, span: Span) -> int:
    """Detach delivered exports and spoken answers, and clear the bytes that nothing else holds."""
    keys = retention.sweep_exports(connection, span=span)
    unused = [*{*keys} - person_data.list_referenced(connection, keys=keys)]
    retention.sweep_files(connection, keys=unused, before=span.before)
    return len(keys)


_DELETIONS: Mapping[RetainedKind, Callable[..., int]] = {
    "inbox": retention.sweep_inbox,
    "outbox": retention.sweep_outbox,
    "steps": retention.sweep_steps,
    "usage": retention.sweep_usage,
    "messages": retention.sweep_messages,
    "exports": _sweep_exports,
    "copies": retention.sweep_copies,
    "webhooks": retention.sweep_webhooks,
}
