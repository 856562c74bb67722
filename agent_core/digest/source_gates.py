"""Checks the sources of gates: what is new in a feed, on a page or in a calendar."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agent_core.digest.web_sources import (
    CalendarFolders,
    WebAccess,
    list_entries,
    list_events,
    read_text,
)
from agent_core.schedule.gates import JobGate, passes
from agent_core.tools.readers.faults import SourceFailed
from agent_core.tools.web.fetching import FetchRequest, Page

_DIGEST = 8
"""Characters of a hash. A collision would only keep one entry from opening a gate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateOutcome:
    """The outcome of a check: whether the job runs, and the hashes of the `seen` entries."""

    is_open: bool
    seen: str = ""


async def check_source(
    access: WebAccess, gate: JobGate, *, seen: str, today: str, zone: str, folders: Sequence[Path]
) -> GateOutcome:
    """Check a gate. Raises `SourceFailed`.

    `seen` is what the last check returned as `GateOutcome.seen`.
    """
    if gate.kind == "calendar":
        found = CalendarFolders(folders=tuple(folders))
        listed = await list_events(access, found, gate.at, today, zone)
        return GateOutcome(is_open=bool(listed.events))
    page = await access.fetcher.fetch(FetchRequest(url=gate.at))
    if gate.kind == "feed":
        entries = [_digest(json.dumps(one)) for one in await list_entries(access, page)]
        is_new = bool(set(entries) - set(seen.split()))
        return GateOutcome(is_open=is_new, seen=" ".join(entries))
    text = await _read_page(access, page)
    if gate.test == "new":
        return GateOutcome(is_open=_digest(text) != seen, seen=_digest(text))
    try:
        return GateOutcome(is_open=passes(gate, text))
    except ValueError as error:
        raise SourceFailed(str(error)) from error


async def _read_page(access: WebAccess, page: Page) -> str:
    """Return the readable text of a page; JSON is a page, too, because services answer in it."""
    if page.media_type == "application/json":
        return page.body.decode("utf-8", "replace")
    return await read_text(access, page)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGEST]
