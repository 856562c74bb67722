"""Keep a turn that crashes the process from taking other turns down, and at last abandon it.

A crash ends every turn in flight, and mostly says little about one of them: somebody pulled the
plug. So each start judges the turns that the last process ran. If one of them had an open tool
call, that turn is charged with the crash; if none had, all of them are.

Turns that are not suspected continue at once, side by side. A suspected turn gives the others a
head start: it continues when no other turn runs, or after some seconds. Suspected turns continue
one after the other. If one of them crashes the process again, the others are over, or are not
charged with that crash. From the third crash on, the process has to run for a while first, so that
a supervisor that counts quick restarts (systemd: five in ten seconds) does not give up. The sixth
crash ends the turn.
"""

import asyncio
import json
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from agent_core.ids import TurnId
from agent_core.state.conversations import turns
from agent_core.state.conversations.turns import StoredTurn
from agent_core.state.engine import meta
from agent_core.state.engine.database import Connection

_log = logging.getLogger(__name__)

CRASH_WAIT = 3.0
"""Seconds that the process runs before it continues a turn with three crashes; then twice as long
for each further one.
"""
_HEAD_START = 5.0
"""Seconds for which a suspected turn lets others go first, at most."""
_FIRST_LOOK = 0.5
"""Seconds in which stored messages become turns. A suspected turn lets those turns go first."""
_SPACING = 1.0
"""Seconds between the starts of two suspected turns; most turns that crash do so sooner."""
_FREE_CRASHES = 2
_MOST_CRASHES = 6
_KEY = "crash_backoff"
"""Key in `meta` of the running turns' crashes, as of the latest start."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CrashRecord:
    """The crashes that a turn is charged with, and its number of attempts when that was judged.

    A turn with more attempts than that was running when the last process ended.
    """

    crashes: int = 0
    attempts: int = 0
    has_open_call: bool = False

    @property
    def is_suspect(self) -> bool:
        """True if the turn may have caused a crash."""
        return self.crashes >= (1 if self.has_open_call else _FREE_CRASHES)

    @property
    def is_abandoned(self) -> bool:
        """True if the turn has crashed too often to be continued again."""
        return self.crashes >= _MOST_CRASHES


CrashRecords = Mapping[TurnId, CrashRecord]


def judge(
    running: Sequence[StoredTurn], before: CrashRecords, open_calls: frozenset[TurnId]
) -> dict[TurnId, CrashRecord]:
    """Charge the turns that were running when the last process ended; pure."""
    records = {turn.id: before.get(turn.id, CrashRecord()) for turn in running}
    active = {turn.id for turn in running if turn.attempts > records[turn.id].attempts}
    charged = active & open_calls or active
    return {
        turn.id: CrashRecord(
            crashes=records[turn.id].crashes + (turn.id in charged),
            attempts=turn.attempts,
            has_open_call=turn.id in open_calls,
        )
        for turn in running
    }


def recover(connection: Connection) -> tuple[list[StoredTurn], CrashRecords]:
    """List the turns of the last process, least suspected first, and record their crashes."""
    running = turns.list_running(connection)
    records = judge(running, _load(connection), turns.list_with_open_call(connection))
    stored = {turn_id: [record.crashes, record.attempts] for turn_id, record in records.items()}
    meta.put(connection, key=_KEY, value=json.dumps(stored))
    return sorted(running, key=lambda turn: _rank(records[turn.id])), records


def _load(connection: Connection) -> dict[TurnId, CrashRecord]:
    stored = json.loads(meta.get(connection, key=_KEY) or "{}")
    return {
        TurnId(int(turn_id)): CrashRecord(crashes=crashes, attempts=attempts)
        for turn_id, (crashes, attempts) in stored.items()
    }


def _rank(record: CrashRecord) -> tuple[bool, int, bool]:
    return record.is_suspect, record.crashes, record.has_open_call


def find_wait(crashes: int, first_wait: float = CRASH_WAIT) -> float:
    """Return the seconds that the process has to run before it continues a turn."""
    excess = crashes - _FREE_CRASHES - 1
    return first_wait * 2.0**excess if excess >= 0 and crashes < _MOST_CRASHES else 0.0


@dataclass(slots=True, kw_only=True)
class CrashBackoff:
    """Decides when the turns of an earlier process continue."""

    count_busy: Callable[[], int]
    """Counts the lanes with work, including those that wait here."""
    draining: asyncio.Event
    changed: asyncio.Event
    """Set when a lane is done, and once the lanes drain; waiting turns then check again."""
    first_wait: float
    _records: CrashRecords = field(default_factory=dict, init=False)
    _began: float = field(default=0.0, init=False)
    _last_start: float = field(default=0.0, init=False)
    _waiting: list[TurnId] = field(default_factory=list, init=False)
    """Waiting turns, the least suspected first, because `recover` lists them in this order."""

    def begin(self, records: CrashRecords) -> None:
        """Start to measure how long the process has run."""
        self._records = records
        self._began = asyncio.get_running_loop().time()

    def is_abandoned(self, turn: StoredTurn) -> bool:
        """Return whether a turn has crashed too often."""
        return self._records[turn.id].is_abandoned

    async def admit(self, turn: StoredTurn) -> None:
        """Wait until a turn may continue, or until the lanes drain."""
        record = self._records[turn.id]
        if not record.is_suspect or record.is_abandoned:
            return
        wait = find_wait(record.crashes, self.first_wait)
        _log.warning(
            "turn %d starts after all others, because of %d crashes", turn.id, record.crashes
        )
        self._waiting.append(turn.id)
        try:
            while not self.draining.is_set():
                left = self._find_left(wait) if self._waiting[0] == turn.id else None
                if left is not None and left <= 0:
                    break
                self.changed.clear()
                with suppress(TimeoutError):
                    async with asyncio.timeout(left):
                        await self.changed.wait()
        finally:
            self._waiting.remove(turn.id)
            self._last_start = asyncio.get_running_loop().time()
            self.changed.set()

    def _find_left(self, wait: float) -> float:
        """Return the seconds after which a turn may continue, unless others are done sooner."""
        now = asyncio.get_running_loop().time()
        earliest = self._began + max(wait, _FIRST_LOOK)
        if self.count_busy() == len(self._waiting):
            return earliest - now
        latest = max(self._began + max(wait, _HEAD_START), self._last_start + _SPACING)
        return latest - now
